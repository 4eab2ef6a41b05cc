// SPDX-License-Identifier: Apache-2.0
// SceneMotion: the reduced body of a scene in time, under the scene's loads, as everybody sees it: in the world.
//
// A body that is held somewhere deforms in place (runtime/subspace/subspace_dynamics.h): x = X + U q. One that nothing
// holds also moves and turns as a whole (runtime/subspace/floating_body.h): x = c + R (X + U q). Whoever runs a scene
// doesn't have to know which of the two it is.
#pragma once

#include "supple/pipeline/object/scene_body.h"

#include <memory>

namespace supple {

struct MotionReport {
  int iterations = 0;      ///< of Newton's method
  double residual = 0;     ///< held: before the last correction, relative to the loads; free: of the last correction
  bool converged = true;   ///< false: the limit of iterations came first
  bool recovered = false;  ///< the step broke down and was undone
};

class SceneMotion {
 public:
  /// Makes the motion of a scene whose body has a model; both must outlive it. Fails on solver settings out of range,
  /// on a static scene of a free body, and on a body that its fixed vertices let turn.
  static Result<std::unique_ptr<SceneMotion>> create(const Scene& scene, const SceneBody& body);
  virtual ~SceneMotion() = default;

  /// What the scene asks for and this kind of motion doesn't do, in sentences.
  virtual std::vector<std::string> warnings() const { return {}; }
  /// Begins at rest, with the accelerations that the loads at time zero cause.
  virtual void begin() {}
  /// Begins with a saved state instead (runtime/subspace/state_archive.h).
  virtual Status resume(const std::filesystem::path& path) = 0;
  /// Takes the step that ends at `time`.
  virtual MotionReport step(double time) = 0;
  /// Finds where the body comes to rest under its loads.
  virtual Result<MotionReport> find_equilibrium() = 0;

  virtual double time() const = 0;
  virtual VecX displacements() const = 0;  ///< of the simulation mesh, in the world [m]
  virtual VecX velocities() const = 0;     ///< of the simulation mesh, in the world [m/s]
  virtual double kinetic_energy() const = 0;
  virtual double elastic_energy() = 0;
  virtual std::vector<Vec3> surface_positions() const = 0;  ///< of the model's surface, in the world [m]
  /// Gives the bytes of a file that resume() takes.
  virtual std::string encode_state() const = 0;
};

/// The two kinds, for SceneMotion::create().
Result<std::unique_ptr<SceneMotion>> make_held_motion(const Scene& scene, const SceneBody& body);
Result<std::unique_ptr<SceneMotion>> make_free_motion(const Scene& scene, const SceneBody& body);

}  // namespace supple
