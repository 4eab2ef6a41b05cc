// SPDX-License-Identifier: Apache-2.0
// Falling objects, after Figure 13 of the 2005 paper: soft rings, jacks and starfish drop on the ground and on each
// other, each a free body in a subspace of linear modes and their derivatives.
#pragma once

#include "supple/asset/contact_shape.h"
#include "supple/asset/subspace_model.h"
#include "supple/base/progress.h"
#include "supple/base/result.h"
#include "supple/io/image/color.h"
#include "supple/runtime/subspace/floating_world.h"

#include <filesystem>
#include <functional>

namespace supple {

struct FallingKind {
  std::string name;
  SubspaceModel model;
  ContactShape shape;
  Color color;
};

/// Where an object starts.
struct FallingObject {
  std::size_t kind = 0;
  Vec3 position = Vec3::Zero();
  Eigen::Quaterniond orientation = Eigen::Quaterniond::Identity();
  Vec3 velocity = Vec3::Zero();
  Vec3 angular_velocity = Vec3::Zero();
};

struct FallingObjects {
  std::vector<FallingKind> kinds;
  std::vector<FallingObject> objects;
  FloatingSettings settings;
  FloatingWorldSettings world;
};

/// `coordinates` for each object (paper: 40), from `linear_modes` modes (paper: 20).
Result<FallingObjects> make_falling(int coordinates = 24, int linear_modes = 10,
                                    Progress& progress = Progress::silent());
/// The kinds alone: ring, jack, starfish.
Result<FallingKind> make_falling_kind(const std::string& name, int coordinates, int linear_modes,
                                      Progress& progress = Progress::silent());

/// All objects at their starts, over the plane y = 0.
Result<FloatingWorld> start_falling(const FallingObjects& falling);

struct FallingFilm {
  double frames_per_second = 0.0;
  std::vector<std::vector<std::vector<Vec3>>> frames;  ///< object, frame, vertex of its surface
  double step_us = 0.0;                                ///< mean wall time of a step
  double worst_step_us = 0.0;
};
FallingFilm film_falling(FloatingWorld& world, double seconds, double frames_per_second, Progress& progress);

/// falling.png: moments of the fall; falling.glb: all of it. The folder is made if it's missing.
Status write_falling(const FallingObjects& falling, const FallingFilm& film, const std::filesystem::path& directory);

}  // namespace supple
