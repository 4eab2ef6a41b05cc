// SPDX-License-Identifier: Apache-2.0
// The surface that stands beside a point cache, under the cache's name with ".obj". Nobody has named it, so it replaces
// nothing but what an earlier run wrote, which is known by its first line.
#pragma once

#include "supple/base/result.h"
#include "supple/mesh/surface.h"

#include <filesystem>

namespace supple {

std::filesystem::path cache_surface_path(std::filesystem::path cache);
/// Before the work: whether the surface may be written there.
Status check_cache_surface(const std::filesystem::path& surface, bool force);
Status write_cache_surface(const std::filesystem::path& path, const Surface& surface);

}  // namespace supple
