// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/quasistatic/flesh_turns.h"

#include "supple/base/parallel.h"
#include "supple/offline/fitting/frame_sites.h"
#include "supple/offline/patches/bounded_biharmonic.h"
#include "supple/rig/deform/bone_points.h"

#include <Eigen/LU>

#include <algorithm>
#include <map>
#include <numeric>

namespace supple {
namespace {

void add_blend(std::vector<std::pair<double, Index>> weights, TurnBlends& blends) {
  double sum = 0;
  for (auto& [weight, site] : weights) sum += weight = std::max(weight, 0.0);
  std::erase_if(weights, [&](const auto& entry) { return entry.first <= 1e-4 * sum; });
  std::sort(weights.begin(), weights.end(),
            [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  if (weights.empty()) weights.emplace_back(1.0, 0);
  sum = 0;
  for (const auto& entry : weights) sum += entry.first;
  for (const auto& [weight, site] : weights) {
    blends.site.push_back(site);
    blends.weight.push_back(weight / sum);
  }
  blends.first.push_back(static_cast<Index>(blends.site.size()));
}

void hang_on_bones(const SurfaceCarry& carry, const SkinDeformer& skin, TurnBlends& blends) {
  std::map<Index, double> sums;
  for (std::size_t v = 0; v < carry.size(); ++v) {
    sums.clear();
    for (std::size_t k = 0; k < SurfaceCarry::neighbours; ++k)
      for (const SkinDeformer::Influence& influence : skin.influences(carry.vertex[v][k]))
        sums[influence.bone] += carry.weight[v][k] * influence.weight;
    std::vector<std::pair<double, Index>> weights;
    for (const auto& [bone, weight] : sums) weights.emplace_back(weight, bone);
    add_blend(std::move(weights), blends);
  }
}

/// Each bone is handle of those held vertices that hang on it most.
void spread_from_bones(QuasistaticModel& model) {
  std::vector<Index> handle(to_size(model.vertex_count()), -1), bone_of, handle_of(to_size(model.site_count()), -1);
  for (const Index v : model.fixed) {
    const auto bone = to_size(model.blends.site[to_size(model.blends.first[to_size(v)])]);
    if (handle_of[bone] < 0) {
      handle_of[bone] = static_cast<Index>(bone_of.size());
      bone_of.push_back(static_cast<Index>(bone));
    }
    handle[to_size(v)] = handle_of[bone];
  }
  if (bone_of.empty()) return;
  const MatX weights = bounded_biharmonic_weights(model.mesh, handle, static_cast<Index>(bone_of.size())).weights;
  model.blends = {};
  model.blends.first.push_back(0);
  for (Eigen::Index v = 0; v < weights.rows(); ++v) {
    std::vector<std::pair<double, Index>> own;
    for (Eigen::Index h = 0; h < weights.cols(); ++h) own.emplace_back(weights(v, h), bone_of[to_size(h)]);
    add_blend(std::move(own), model.blends);
  }
}

/// Sites in the flesh, as points that the skin carries.
void hang_on_flesh(const EmbeddedBody& body, const CharacterRig& rig, std::span<const std::vector<Vec3>> poses,
                   QuasistaticModel& model) {
  std::vector<Index> free;
  for (Index v = 0; v < model.vertex_count(); ++v)
    if (!std::binary_search(model.fixed.begin(), model.fixed.end(), v)) free.push_back(v);
  const FrameSites frames = choose_frame_sites(model.mesh, free, poses);
  SurfaceCarry carry;
  std::vector<Vec3> points;
  for (const auto& site : frames.sites) {
    for (const Index v : site) {
      carry.vertex.push_back(body.carry.vertex[to_size(v)]);
      carry.weight.push_back(body.carry.weight[to_size(v)]);
      points.push_back(model.mesh.vertices[to_size(v)]);
    }
  }
  model.turns = carry_rig(rig.rig(), carry, std::move(points));
  for (const FrameBlend& blend : frames.vertices) {
    std::vector<std::pair<double, Index>> weights;
    for (std::size_t k = 0; k < FrameBlend::most; ++k) weights.emplace_back(blend.weight[k], blend.site[k]);
    add_blend(std::move(weights), model.blends);
  }
}

Mat3 edges_of(std::span<const Vec3> points) {
  Mat3 edges;
  for (int k = 0; k < 3; ++k) edges.col(k) = points[to_size(k) + 1] - points[0];
  return edges;
}

}  // namespace

void choose_turns(const EmbeddedBody& body, const CharacterRig& rig, std::span<const std::vector<Vec3>> poses,
                  bool biharmonic, QuasistaticModel& model) {
  model.blends = {};
  model.blends.first.push_back(0);
  if (std::optional<BonePoints> bones = bone_points(*rig.rig())) {
    model.turns = bones->rig;
    hang_on_bones(body.carry, *bones->skin, model.blends);
    if (biharmonic) spread_from_bones(model);
  } else {
    hang_on_flesh(body, rig, poses, model);
    if (biharmonic)
      model.warnings.emplace_back(
          "turns = \"biharmonic\" is for skins on bones; this rig has none, and its flesh turns as its skin does");
  }
}

FleshTurns::FleshTurns(const QuasistaticModel& model)
    : model_(&model),
      points_(to_size(model.turns->vertex_count())),
      positions_(points_.size()),
      sites_(to_size(model.site_count())),
      workspace_(model.turns->make_workspace(model.turns->vertex_count())) {
  std::iota(points_.begin(), points_.end(), 0);
  model.turns->evaluate(model.turns->layout().neutral, points_, positions_, *workspace_);
  for (std::size_t s = 0; s < sites_.size(); ++s)
    inverse_edges_.push_back(edges_of(std::span(positions_).subspan(4 * s, 4)).inverse());
}

void FleshTurns::evaluate(std::span<const double> p, std::span<Eigen::Vector4d> rotations) {
  model_->turns->evaluate(p, points_, positions_, *workspace_);
  for (std::size_t s = 0; s < sites_.size(); ++s) {
    Affine turned = Affine::Identity();
    turned.linear() = edges_of(std::span(positions_).subspan(4 * s, 4)) * inverse_edges_[s];
    sites_[s] = rotation_of(turned).coeffs();
  }
  const TurnBlends& blends = model_->blends;
  parallel_for(std::ssize(rotations), 4096, [&](std::int64_t v) {
    const Index first = blends.first[to_size(v)];
    const Eigen::Vector4d& pivot = sites_[to_size(blends.site[to_size(first)])];
    Eigen::Vector4d sum = Eigen::Vector4d::Zero();
    for (Index k = first; k < blends.first[to_size(v) + 1]; ++k) {
      const Eigen::Vector4d& q = sites_[to_size(blends.site[to_size(k)])];
      sum += (q.dot(pivot) < 0 ? -1.0 : 1.0) * blends.weight[to_size(k)] * q;
    }
    rotations[to_size(v)] = sum.squaredNorm() > 1e-12 ? sum : pivot;
  });
}

}  // namespace supple
