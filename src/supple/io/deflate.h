// SPDX-License-Identifier: Apache-2.0
// Compression in the zlib format, as PNG and VTU want it.
#pragma once

#include <string>
#include <string_view>

namespace supple {

/// Compresses bytes; `level` goes from 1 (fast) to 9 (small).
std::string deflate(std::string_view bytes, int level);

}  // namespace supple
