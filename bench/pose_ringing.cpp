// SPDX-License-Identifier: Apache-2.0
#include "bench/pose_ringing.h"

#include "supple/offline/dynamics/full_pose_dynamics.h"
#include "supple/runtime/posespace/pose_space_dynamics.h"

#include <algorithm>
#include <cmath>

namespace supple::bench {
namespace {

constexpr double pull_seconds = 0.25, seconds = 1.0, pull_force = 60;  // [s], [s], [N] at each cheek
/// Where the bear of the samples has its left cheek [m], and how far around it is pulled.
const Vec3 cheek(0.16, 1.135, 1.05);
constexpr double cheek_radius = 0.07;
/// A box around its left front leg below the shoulder [m].
const Vec3 arm_low(0.1, -0.1, 0.1), arm_high(0.5, 0.6, 0.75);

double farthest(const VecX& skin, const std::vector<Index>& vertices) {
  double result = 0;
  for (const Index v : vertices) result = std::max(result, skin.segment<3>(3 * v).norm());
  return result;
}

}  // namespace

double Ringing::share() const {
  const double most = *std::max_element(cheeks.begin(), cheeks.end());
  return most > 0 ? *std::max_element(arm.begin(), arm.end()) / most : 0;
}

CheekPull::CheekPull(const BuiltCharacter& built, const SoftStepSettings& settings)
    : built_(built), settings_(settings) {
  const std::vector<Vec3>& skin = built.body.body.skin.vertices;
  for (std::size_t v = 0; v < skin.size(); ++v) {
    const Vec3 mirrored(std::abs(skin[v].x()), skin[v].y(), skin[v].z());
    if ((mirrored - cheek).norm() < cheek_radius)
      pulled_.push_back({static_cast<Index>(v), Vec3(skin[v].x() > 0 ? 1 : -1, 0, 0)});
    if ((skin[v].array() > arm_low.array()).all() && (skin[v].array() < arm_high.array()).all())
      arm_.push_back(static_cast<Index>(v));
  }
  for (SurfaceForce& one : pulled_) {
    one.force *= 2 * pull_force / static_cast<double>(pulled_.size());
    cheeks_.push_back(one.vertex);
  }
}

double CheekPull::pull_at(double time) const { return time <= pull_seconds ? 1 : 0; }

void CheekPull::look(const VecX& skin, double time, Ringing& ringing) const {
  ringing.time.push_back(time);
  ringing.cheeks.push_back(farthest(skin, cheeks_));
  ringing.arm.push_back(farthest(skin, arm_));
}

Result<Ringing> CheekPull::full() const {
  const ReducedBody& reduced = built_.reduced;
  const Embedding& embedding = built_.body.body.embedding;
  Result<FullPoseDynamics> full = FullPoseDynamics::create(reduced.mesh, reduced.model->material, reduced.fixed,
                                                           reduced.model->rest, settings_, &reduced.frames);
  SUPPLE_RETURN_IF_ERROR(full);
  if (pulled_.empty() || arm_.empty()) return failure("the character has no cheeks and arms where a bear has them");
  VecX forces = VecX::Zero(3 * static_cast<Eigen::Index>(embedding.size()));
  for (const SurfaceForce& one : pulled_) forces.segment<3>(3 * one.vertex) = one.force;
  const VecX spread = embedding.spread(forces);
  Ringing ringing;
  for (double time = settings_.time_step; time <= seconds; time += settings_.time_step) {
    if (full->push(pull_at(time) * spread).recovered) return failure("the full simulation broke down");
    look(embedding.interpolate(full->displacements()).col(0), time, ringing);
  }
  return ringing;
}

Result<Ringing> CheekPull::reduced(const ReducedBody& reduced) const {
  Result<PoseSpaceDynamics<float>> dynamics = PoseSpaceDynamics<float>::create(reduced.model, settings_);
  SUPPLE_RETURN_IF_ERROR(dynamics);
  const CharacterPose pose = built_.rig().neutral();
  std::vector<Vec3> shown(to_size(reduced.model->surface.vertex_count()));
  Ringing ringing;
  for (double time = settings_.time_step; time <= seconds; time += settings_.time_step) {
    SoftForces forces;
    if (pull_at(time) > 0) forces.surface = pulled_;
    if (dynamics->step({}, pose.p, forces).recovered) return failure("the reduced simulation broke down");
    dynamics->surface_displacements({}, pose.p, dynamics->coordinates(), shown);
    look(Eigen::Map<const VecX>(shown.front().data(), 3 * std::ssize(shown)), time, ringing);
  }
  return ringing;
}

double CheekPull::error(const std::vector<double>& motion, const std::vector<double>& truth) {
  double difference = 0, total = 0;
  for (std::size_t k = 0; k < std::min(motion.size(), truth.size()); ++k) {
    difference += std::pow(motion[k] - truth[k], 2);
    total += truth[k] * truth[k];
  }
  return total > 0 ? std::sqrt(difference / total) : 0;
}

}  // namespace supple::bench
