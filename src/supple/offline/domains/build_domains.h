// SPDX-License-Identifier: Apache-2.0
// From parts and their places to a DomainModel: every part is reduced once, with the interface to its parent held, and
// every copy is hung on its parent.
#pragma once

#include "supple/asset/domain_model.h"
#include "supple/base/progress.h"
#include "supple/base/result.h"
#include "supple/mesh/embedding.h"
#include "supple/offline/domains/joint_plan.h"

#include <optional>
#include <variant>

namespace supple {

using PartMesh = std::variant<TetMesh, HexMesh>;

/// Vertices at which a child pulls and twists its parent, and their shares of it.
struct InterfaceLoad {
  std::vector<Index> vertices;
  std::vector<double> weights;
};

/// Points of a part: weighted means of vertices of its mesh.
struct PartPoints {
  std::vector<Index> first = {0};  ///< one more than there are points
  std::vector<Index> vertex;
  std::vector<double> weight;  ///< beside them, adding up to one for each point

  Index count() const { return static_cast<Index>(first.size()) - 1; }
};

struct PartPlan {
  std::string name;
  PartMesh mesh;             ///< in the part's own coordinates; the interface to the parent is around the origin
  std::vector<Index> fixed;  ///< vertices of that interface, or of the ground; none: a root that flies
  int size = 20;             ///< r; 0: rigid
  MaterialModel material = MaterialModel::stvk;  ///< of which only this one has exact forces
  double tolerance = 0.02;                       ///< of the forces of others
  /// Where children hang. The static answers to their forces and torques come first in the basis, with how they curve,
  /// nearly all of it at most: modes of the part alone learn slowly what its children do to it. build_domains() fills
  /// it.
  std::vector<InterfaceLoad> loads = {};
  /// Vertices at which it closes loops: held there as well, its own vibrations are those that the answers to forces at
  /// the interface don't have. build_domains() fills it.
  std::vector<Index> closed = {};
  int linear_modes = 0;                 ///< that the basis grows from; 0: as many as r needs
  std::optional<Surface> surface = {};  ///< to look at, in the part's coordinates; none: the mesh's own
  /// What the surface of the tree is made of instead; it numbers them from 0.
  std::optional<PartPoints> points = {};
};

struct DomainPlan {
  Index part = 0;
  Index parent = -1;
  double scale = 1.0;
  double frequency = 1.0;  ///< frequencies of this copy, as a factor
  Mat3 rotation = Mat3::Identity();
  Vec3 position = Vec3::Zero();
  std::vector<Index> interface = {};  ///< vertices of the parent's part; none: around the domain's own position
  std::vector<double> interface_weights = {};  ///< beside them
  double reach = 0.0;  ///< without vertices: how far around the position the parent's vertices count [m]
  JointPlan joint = {};
};

/// Where two domains of a tree are held together, so that they close a loop.
struct ClosurePlan {
  struct Side {
    Index domain = -1;            ///< of the plan; −1: the ground, for the second side
    std::vector<Index> vertices;  ///< of its part, in the order of the other side's
  };
  Side first, second;
  std::vector<double> weights;  ///< beside the vertices
  double stiffness = 0;         ///< of the spring between them [N/m]; 0: they are one
  bool turns = false;           ///< free to turn, like a ball in its socket
};

struct TreePlan {
  std::vector<PartPlan> parts;
  std::vector<DomainPlan> domains;  ///< parents before their children, the root first
  std::vector<ClosurePlan> closures = {};
  DomainSurface surface;  ///< empty: the surfaces of all parts
};

/// What the reduction of one part took and gave.
struct PartReport {
  int elements = 0;
  int size = 0;
  double lowest_frequency = 0;  ///< of the part by itself, its interface held [Hz]
  int points = 0;               ///< that forces are sums over; 0: they are exact
  double force_error = 0;       ///< of those, on shapes that weren't trained with
  double seconds = 0;
};

struct DomainBuild {
  DomainModel model;
  std::vector<PartReport> parts;
  double seconds = 0;
};

/// Reduces one part. Fails with a sentence that names it.
Result<SubspaceModel> reduce_part(const PartPlan& plan, PartReport& report, Progress& progress = Progress::silent());

/// Closures become sites, domains without a body, after all others.
/// Fails with a sentence on parts that can't be reduced, interfaces that hold nothing and scales that aren't positive.
Result<DomainBuild> build_domains(const TreePlan& plan, Progress& progress = Progress::silent());

/// Gives every part its share of r̂ coordinates, by the logarithm of its number of elements (section 5), counting each
/// copy; no part gets fewer than four or more than 30. Rigid parts (size 0) stay rigid.
void share_coordinates(TreePlan& plan, int total);

}  // namespace supple
