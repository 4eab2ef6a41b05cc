// SPDX-License-Identifier: Apache-2.0
// Buffer views compressed by meshoptimizer: EXT_meshopt_compression and KHR_meshopt_compression.
//
// Version 0.18 of the library, which Debian has, decodes what the EXT extension knows. What KHR added, version 1 of the
// attribute codec and the colour filter, is decoded here, after the extension's appendices A and B:
//   attributes: per block, per byte of the stride, groups of 16 deltas of 0, 1, 2, 4 or 8 bits; then per channel of
//   four bytes the deltas are sums of bytes, sums of 16-bit numbers, or exclusive-ors of 32-bit numbers.
#pragma once

#include "supple/io/gltf/gltf_content.h"

#include <functional>
#include <span>

namespace supple {

inline constexpr const char* meshopt_extensions[] = {"EXT_meshopt_compression", "KHR_meshopt_compression"};

/// If the view is compressed: appends the decoded data, points the view at it, drops the extension, and gives true.
/// `placed` gives the range of a buffer of the file within `content.binary`.
bool decode_meshopt_view(GltfContent& content, std::size_t index, GltfJson& view, std::size_t buffer_count,
                         const std::function<ByteRange(std::size_t)>& placed);

/// Compresses the views of a document that is fit to be written, without any loss: vertices, keys and triangles (whose
/// corners may begin with another one, in the same sense). Views that wouldn't become smaller stay as they are.
void pack_views(GltfContent& content);

/// Version 1 of the attribute codec; false when the bytes are damaged. `out` holds count × stride bytes.
bool decode_meshopt_attributes_v1(std::span<unsigned char> out, std::size_t count, std::size_t stride,
                                  std::span<const unsigned char> bytes);

/// YCoCg to RGB in place, for strides 4 (8 bits) and 8 (16 bits).
void decode_meshopt_colors(std::span<unsigned char> data, std::size_t stride);

}  // namespace supple
