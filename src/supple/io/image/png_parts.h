// SPDX-License-Identifier: Apache-2.0
// What all PNG writers need: chunks, and rows with a prediction filter.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace supple {

inline constexpr const char* png_signature = "\x89PNG\r\n\x1a\n";

void append_big_endian(std::string& out, std::uint32_t value);
/// Appends a chunk: length, type, data, checksum.
void append_chunk(std::string& png, std::string_view type, std::string_view data);

/// A row behind the number of the filter whose residuals have the smallest sum of magnitudes, the specification's own
/// recommendation. `pixel_bytes`: of one pixel.
void append_best_filter(std::string& data, const std::vector<std::uint8_t>& row, const std::vector<std::uint8_t>& above,
                        std::size_t pixel_bytes);

}  // namespace supple
