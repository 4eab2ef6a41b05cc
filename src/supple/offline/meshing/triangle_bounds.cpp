// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/meshing/triangle_bounds.h"

#include <fmt/format.h>

namespace supple {

Result<Bounds> triangle_bounds(const Surface& surface) {
  if (surface.triangles.empty()) return input_error("The surface has no triangles, so there is nothing to fill.");
  Bounds bounds;
  for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
    for (const Index v : surface.triangles[t]) {
      if (v < 0 || to_size(v) >= surface.vertices.size())
        return input_error(
            fmt::format("Triangle {} of the surface names vertex {}, but the surface has {} vertices; repair the file.",
                        t, v, surface.vertices.size()));
      const Vec3& p = surface.vertices[to_size(v)];
      if (!p.allFinite())
        return input_error(
            fmt::format("Vertex {} of the surface has a coordinate that isn't a number; repair the file.", v));
      bounds.add(p);
    }
  }
  return bounds;
}

}  // namespace supple
