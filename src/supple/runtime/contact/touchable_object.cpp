// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/contact/touchable_object.h"

#include <algorithm>

namespace supple {

Result<TouchableObject> TouchableObject::create(const SubspaceModel& model, const SubspaceSettings& dynamics,
                                                BallContactSettings contact,
                                                std::shared_ptr<const BoundedDeformationTree> tree) {
  Result<SubspaceDynamics<double>> motion = SubspaceDynamics<double>::create(model, dynamics);
  SUPPLE_RETURN_IF_ERROR(motion);
  if (!tree) tree = std::make_shared<const BoundedDeformationTree>(model.surface);
  contact.time_step = dynamics.time_step;
  Result<BallContact> touch = BallContact::create(*tree, contact);
  SUPPLE_RETURN_IF_ERROR(touch);
  return TouchableObject(std::move(tree), std::move(*touch), std::move(*motion));
}

TouchableObject::TouchableObject(std::shared_ptr<const BoundedDeformationTree> tree, BallContact contact,
                                 SubspaceDynamics<double> dynamics)
    : tree_(std::move(tree)),
      contact_(std::move(contact)),
      dynamics_(std::move(dynamics)),
      shape_(to_size(dynamics_.size()), 0.0),
      velocity_(shape_),
      force_(shape_) {}

void TouchableObject::reset() {
  dynamics_.reset();
  contact_.reset();
}

BallContactReport TouchableObject::step(const Ball& hand, std::span<const double> other_force) {
  const SubspaceState<double>& now = dynamics_.state();
  const double dt = time_step();
  for (std::size_t a = 0; a < shape_.size(); ++a) {
    shape_[a] = now.q[a] + dt * (now.velocity[a] + 0.5 * dt * now.acceleration[a]);
    velocity_[a] = now.velocity[a] + dt * now.acceleration[a];
    force_[a] = other_force.empty() ? 0.0 : other_force[a];
  }
  const BallContactReport report = contact_.step(hand, shape_, velocity_, force_);
  last_step_ = dynamics_.step(force_);
  return report;
}

}  // namespace supple
