// SPDX-License-Identifier: Apache-2.0
#include "supple/rig/deform/carried_rig.h"

#include "supple/base/assert.h"
#include "supple/math/simd/lanes.h"
#include "supple/rig/deform/pose_space.h"
#include "supple/rig/deform/rig_stack.h"
#include "supple/rig/deform/skin_deformer.h"

#include <algorithm>
#include <map>

namespace supple {
namespace {

/// Carried points share most of the surface vertices they hang on. Each is asked for once; which they are is found out
/// again only when other points are wanted than the last time.
struct Workspace final : RigWorkspace {
  struct Hold {  ///< of a wanted point
    std::array<double, SurfaceCarry::neighbours> weight;
    std::array<std::uint32_t, SurfaceCarry::neighbours> place;  ///< among surface_vertices
  };
  std::vector<Index> points;            ///< of the last evaluation
  std::vector<Hold> holds;              ///< what each of these points hangs on
  std::vector<Vec3> starts;             ///< what each of them is before its holds are added
  std::vector<Index> surface_vertices;  ///< that they hang on, each once
  std::vector<Index> place;             ///< of a surface vertex among those, or -1
  std::vector<Vec3> surface_positions;  ///< and one more, so that each can be read as four numbers
  std::unique_ptr<RigWorkspace> surface;

  /// `start`: of each point, what the vertices' share is added to.
  void find_surface_vertices(std::span<const Index> wanted, const SurfaceCarry& carry, std::span<const Vec3> start) {
    if (std::equal(points.begin(), points.end(), wanted.begin(), wanted.end())) return;
    for (const Index v : surface_vertices) place[to_size(v)] = -1;
    surface_vertices.clear();
    holds.clear();
    starts.clear();
    points.assign(wanted.begin(), wanted.end());
    for (const Index point : wanted) {
      const auto i = to_size(point);
      holds.push_back({carry.weight[i], {}});
      starts.push_back(start[i]);
      for (std::size_t k = 0; k < SurfaceCarry::neighbours; ++k) {
        const Index v = carry.vertex[i][k];
        Index& at = place[to_size(v)];
        if (at < 0) {
          at = static_cast<Index>(surface_vertices.size());
          surface_vertices.push_back(v);
        }
        holds.back().place[k] = static_cast<std::uint32_t>(at);
      }
    }
  }

  /// `found`: of the surface vertices, so many numbers each, and four can be read of the last.
  template <std::size_t stride>
  void carry(const double* found, std::span<Vec3> positions) const {
    for (std::size_t i = 0; i < positions.size(); ++i) {
      Pack4 sum(Pack4::Vector{starts[i][0], starts[i][1], starts[i][2], 0.0});
      for (std::size_t k = 0; k < SurfaceCarry::neighbours; ++k)
        sum += Pack4(holds[i].weight[k]) * load(found + stride * holds[i].place[k]);
      store_three(positions[i].data(), sum);
    }
  }
};

/// Under linear skinning, in place of that.
struct SkinnedWorkspace final : RigWorkspace {
  std::unique_ptr<RigWorkspace> surface;
  BoneGroups groups;

  SkinnedWorkspace(std::unique_ptr<RigWorkspace> own, BoneGroups of) : surface(std::move(own)), groups(std::move(of)) {}
};

}  // namespace

CarriedRig::CarriedRig(std::shared_ptr<const Rig> surface, SurfaceCarry carry, std::vector<Vec3> rest)
    : surface_(std::move(surface)), carry_(std::move(carry)), rest_(std::move(rest)) {
  SUPPLE_ASSERT(carry_.size() == rest_.size());
  const std::vector<Vec3> neutral = evaluate_all(*surface_, surface_->layout().neutral);
  terms_.offset = rest_;
  for (std::size_t i = 0; i < rest_.size(); ++i) {
    for (std::size_t k = 0; k < SurfaceCarry::neighbours; ++k)
      terms_.offset[i] -= carry_.weight[i][k] * neutral[to_size(carry_.vertex[i][k])];
  }
  const auto* stack = dynamic_cast<const StackRig*>(surface_.get());
  if (stack != nullptr && stack->only_wires()) wired_ = stack;
  if (stack == nullptr || stack->linear_parts().skin == nullptr) return;
  skinned_ = stack;
  find_terms();
  find_shifts();
}

void CarriedRig::find_terms() {
  const SkinDeformer& skin = *skinned_->linear_parts().skin;
  std::map<Index, Eigen::Vector4d> sums;  // of a point, by bones
  for (std::size_t i = 0; i < rest_.size(); ++i) {
    sums.clear();
    for (std::size_t k = 0; k < SurfaceCarry::neighbours; ++k) {
      const Index v = carry_.vertex[i][k];
      const Eigen::Vector4d x = skinned_->rest()[to_size(v)].homogeneous();
      for (const SkinDeformer::Influence& influence : skin.influences(v)) {
        const auto sum = sums.try_emplace(influence.bone, Eigen::Vector4d::Zero()).first;
        sum->second += carry_.weight[i][k] * influence.weight * x;
      }
    }
    for (const auto& [bone, c] : sums) terms_.terms.push_back({c, bone});
    terms_.first_term.push_back(static_cast<Index>(terms_.terms.size()));
  }
}

void CarriedRig::find_shifts() {
  const StackRig::LinearParts parts = skinned_->linear_parts();
  const auto shapes = to_size(parts.shapes != nullptr ? parts.shapes->layout().size() : 0);
  std::vector<Vec3> moved(shapes);
  std::map<std::pair<Index, Index>, Index> products;  // of bones and shapes
  std::map<Index, Vec3> sums;                         // of a point, by products
  for (std::size_t i = 0; i < rest_.size(); ++i) {
    sums.clear();
    for (std::size_t k = 0; k < SurfaceCarry::neighbours && shapes > 0; ++k) {
      std::fill(moved.begin(), moved.end(), Vec3::Zero());
      parts.shapes->shapes().add_to(carry_.vertex[i][k], carry_.weight[i][k], moved);
      for (const SkinDeformer::Influence& influence : parts.skin->influences(carry_.vertex[i][k])) {
        for (std::size_t s = 0; s < shapes; ++s) {
          if (moved[s].isZero(0)) continue;
          const auto shape = static_cast<Index>(s), next = static_cast<Index>(products.size());
          const auto [product, fresh] = products.try_emplace({influence.bone, shape}, next);
          if (fresh) terms_.products.push_back({influence.bone, shape});
          sums.try_emplace(product->second, Vec3::Zero()).first->second += influence.weight * moved[s];
        }
      }
    }
    for (const auto& [product, e] : sums) terms_.shifts.push_back({e, product});
    terms_.first_shift.push_back(static_cast<Index>(terms_.shifts.size()));
  }
}

std::unique_ptr<RigWorkspace> CarriedRig::make_workspace(Index most_vertices) const {
  if (skinned_ != nullptr)
    return std::make_unique<SkinnedWorkspace>(surface_->make_workspace(0), BoneGroups(terms_, most_vertices));
  auto workspace = std::make_unique<Workspace>();
  const auto most = std::min(to_size(most_vertices) * SurfaceCarry::neighbours, to_size(surface_->vertex_count()));
  workspace->points.reserve(to_size(most_vertices));
  workspace->surface_vertices.reserve(most);
  workspace->place.assign(to_size(surface_->vertex_count()), -1);
  workspace->holds.reserve(to_size(most_vertices));
  workspace->starts.reserve(to_size(most_vertices));
  workspace->surface_positions.assign(most + 1, Vec3::Zero());
  workspace->surface = surface_->make_workspace(static_cast<Index>(most));
  return workspace;
}

void CarriedRig::evaluate(std::span<const double> p, std::span<const Index> vertices, std::span<Vec3> positions,
                          RigWorkspace& workspace) const {
  if (skinned_ != nullptr) {
    auto& scratch = static_cast<SkinnedWorkspace&>(workspace);
    const StackRig::LinearState state = skinned_->linear_state(p, *scratch.surface);
    scratch.groups.choose(vertices);
    return scratch.groups.evaluate(state.bones, state.weights, positions);
  }
  auto& scratch = static_cast<Workspace&>(workspace);
  scratch.find_surface_vertices(vertices, carry_, wired_ != nullptr ? rest_ : terms_.offset);
  if (wired_ != nullptr) {
    const std::span<const Pack4> moved = wired_->displacements(p, scratch.surface_vertices, *scratch.surface);
    return scratch.carry<4>(reinterpret_cast<const double*>(moved.data()), positions);
  }
  const std::span<Vec3> found(scratch.surface_positions.data(), scratch.surface_vertices.size());
  surface_->evaluate(p, scratch.surface_vertices, found, *scratch.surface);
  scratch.carry<3>(scratch.surface_positions.data()->data(), positions);
}

namespace {

/// A correction of the neutral pose moves the surface that points are attached to.
bool corrects_neutral(const PoseSpaceRig& rig) {
  const std::vector<Vec3> with = evaluate_all(rig, rig.layout().neutral);
  const std::vector<Vec3> without = evaluate_all(*rig.base(), rig.layout().neutral);
  for (std::size_t v = 0; v < with.size(); ++v)
    if ((with[v] - without[v]).norm() > 1e-9 * (1 + with[v].norm())) return true;
  return false;
}

}  // namespace

std::shared_ptr<const Rig> carry_rig(std::shared_ptr<const Rig> surface, const SurfaceCarry& carry,
                                     std::vector<Vec3> rest) {
  const auto* corrected = dynamic_cast<const PoseSpaceRig*>(surface.get());
  if (corrected == nullptr || corrects_neutral(*corrected))
    return std::make_shared<const CarriedRig>(std::move(surface), carry, std::move(rest));
  const auto shape_count = to_size(corrected->weights().pose_count());
  std::vector<MorphTarget> carried(shape_count, {"", std::vector<Vec3>(rest.size(), Vec3::Zero())});
  std::vector<Vec3> own(shape_count);
  for (std::size_t i = 0; i < rest.size(); ++i) {
    std::fill(own.begin(), own.end(), Vec3::Zero());
    for (std::size_t k = 0; k < SurfaceCarry::neighbours; ++k)
      corrected->corrections().add_to(carry.vertex[i][k], carry.weight[i][k], own);
    for (std::size_t s = 0; s < shape_count; ++s) carried[s].displacements[i] = own[s];
  }
  const auto points = static_cast<Index>(rest.size());
  return corrected->with(carry_rig(corrected->base(), carry, std::move(rest)), ShapeTable(carried, points));
}

}  // namespace supple
