// SPDX-License-Identifier: Apache-2.0
// TouchableObject: a SubspaceModel that moves, and a ball in a user's hand that touches it; one call per millisecond.
//
// The contact force for the end of a step is taken at the predicted shape q + dt q̇ + ½ dt² q̈: a force from the old
// shape would come a step late, which feeds energy into a stiff contact.
#pragma once

#include "supple/runtime/contact/ball_contact.h"
#include "supple/runtime/subspace/subspace_dynamics.h"

#include <memory>

namespace supple {

class TouchableObject {
 public:
  /// Builds the tree, unless one of the model's surface is given; instances share it. The time step of the contact is
  /// that of the dynamics. Fails on settings out of range and on objects without a surface.
  static Result<TouchableObject> create(const SubspaceModel& model, const SubspaceSettings& dynamics,
                                        BallContactSettings contact = {},
                                        std::shared_ptr<const BoundedDeformationTree> tree = nullptr);

  /// One step; the force of the report is for the user's hand. `other_force`: what else pulls at the object (r entries,
  /// such as its weight), or nothing. Allocates nothing, never throws.
  BallContactReport step(const Ball& hand, std::span<const double> other_force = {});
  void reset();

  double time_step() const { return dynamics_.settings().time_step; }
  const BoundedDeformationTree& tree() const { return *tree_; }
  BallContact& contact() { return contact_; }
  SubspaceDynamics<double>& dynamics() { return dynamics_; }
  const SubspaceReport& last_step() const { return last_step_; }

 private:
  TouchableObject(std::shared_ptr<const BoundedDeformationTree> tree, BallContact contact,
                  SubspaceDynamics<double> dynamics);

  std::shared_ptr<const BoundedDeformationTree> tree_;
  BallContact contact_;
  SubspaceDynamics<double> dynamics_;
  SubspaceReport last_step_;
  std::vector<double> shape_, velocity_, force_;
};

}  // namespace supple
