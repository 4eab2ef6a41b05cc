// SPDX-License-Identifier: Apache-2.0
// How deep a character's skin is inside itself at a moment: what offline/contact/push_apart.h tells of all its meshes
// together, without what lies inside at rest already (eyes, teeth, a body under clothes).
#pragma once

#include "supple/mesh/topology.h"
#include "supple/pipeline/character/engine.h"

namespace supple {

class SkinDepth {
 public:
  /// `rest`: positions of the vertices of all meshes, mesh after mesh, where nothing is posed. What is shallower than
  /// `slack` [m] counts as touching.
  SkinDepth(const RawCharacter& character, std::span<const Vec3> rest, double slack);

  /// A place where skin is inside skin.
  struct Place {
    std::vector<char> region;  ///< welded vertices that it is about, both sides'
    std::vector<Vec3> pushes;  ///< that bring the skin out of itself there as well as pushes can, of all vertices
  };

  /// How deep each welded vertex is in a pose [m], 0 where it isn't inside.
  std::vector<double> depths(std::span<const Vec3> positions) const;
  /// The largest of them.
  double deepest(std::span<const Vec3> positions) const;
  /// The place where it is deepest, with those that belong to it; what is inside elsewhere is left alone. Something
  /// must be inside.
  Place deepest_place(std::span<const Vec3> positions) const;

  double slack() const { return slack_; }

 private:
  Surface posed(std::span<const Vec3> positions) const;
  std::vector<char> around_deepest(const Surface& posed, std::span<const double> depths) const;

  WeldedSurface welded_;
  std::vector<char> built_in_;  ///< welded vertices that are inside at rest
  double slack_;
};

/// The deepest that the skin of a simulated clip is inside itself at each time [m], with its flesh as the engine moves
/// it.
std::vector<double> depths_in_motion(const SoftCharacter& soft, const Clip& clip, ClipRun& run,
                                     std::span<const double> times);

/// The slack of depths, as a share of a character's height.
inline constexpr double touching_share = 0.002;

}  // namespace supple
