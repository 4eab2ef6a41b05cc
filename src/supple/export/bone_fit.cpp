// SPDX-License-Identifier: Apache-2.0
#include "supple/export/bone_fit.h"

#include "supple/base/parallel.h"
#include "supple/math/dense/svd3.h"

#include <Eigen/LU>

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

constexpr std::size_t most_candidates = 5;  // helpers that a vertex may choose from, the nearest ones
constexpr std::size_t influences = 4;       // of a vertex, old and new, that players handle
constexpr double least_share = 0.01;        // weights below aren't worth an influence
constexpr double still = 1e-4;  // part of the region's extent that holds a rotation back where nothing else does

/// Weighted sums from which the best rigid motion of points follows.
struct PointPairs {
  double weight = 0;
  Vec3 from = Vec3::Zero(), to = Vec3::Zero();
  Mat3 product = Mat3::Zero();

  void add(double w, const Vec3& p, const Vec3& q) {
    weight += w;
    from += w * p;
    to += w * q;
    product += w * q * p.transpose();
  }
};

/// argmin Σ w |R p + t − q|² (W. Kabsch, 1976).
RigidTransform best_motion(const PointPairs& sums) {
  if (!(sums.weight > 0)) return {};
  const Vec3 p = sums.from / sums.weight, q = sums.to / sums.weight;
  Mat3 H = sums.product - sums.weight * q * p.transpose();
  H += (still * H.norm() + 1e-300) * Mat3::Identity();
  const Svd3<double> svd = svd3(H);
  const Mat3 R = svd.U * svd.V.transpose();  // both are rotations: so is R, and the best one
  RigidTransform motion{q - R * p, Quat(R).normalized()};
  return motion.translation.allFinite() && motion.rotation.coeffs().allFinite() ? motion : RigidTransform{};
}

}  // namespace

BoneFit::BoneFit(const RawCharacter& character, const CharacterMesh& mesh, std::span<const Vec3> rest, Index frames)
    : mesh_(&mesh),
      skin_(&character.skins[to_size(mesh.skin)]),
      rest_(rest.begin(), rest.end()),
      frames_(frames),
      shares_(rest.size()),
      sums_(rest.size()),
      energy_(rest.size(), 0.0) {}

double BoneFit::parent_weight(std::size_t v, Index slot) const {
  for (Index e = mesh_->weights.first[v]; e < mesh_->weights.first[v + 1]; ++e)
    if (mesh_->weights.joint[to_size(e)] == slot) return mesh_->weights.weight[to_size(e)];
  return 0.0;
}

// The newest bone takes its part of the parent's weight, and of what other bones have of it already.
void BoneFit::give_share(std::size_t v, double part) {
  const Index bone = bone_count() - 1, slot = bones_.back().slot;
  const double alpha = part * parent_weight(v, slot);
  if (!(alpha > least_share)) return;
  std::vector<Share>& shares = shares_[v];
  const auto old = to_size(mesh_->weights.first[v + 1] - mesh_->weights.first[v]);
  if (old >= influences) return;
  for (Share& share : shares)
    if (bones_[to_size(share.bone)].slot == slot) share.alpha *= 1 - part;
  shares.push_back({bone, alpha});
  if (old + shares.size() <= influences) return;
  shares.erase(
      std::min_element(shares.begin(), shares.end(), [](const Share& a, const Share& b) { return a.alpha < b.alpha; }));
}

void BoneFit::add_bones(Index count, double radius) {
  std::vector<double> energy = energy_;
  for (Index k = 0; k < count; ++k) {
    const auto seed = to_size(std::max_element(energy.begin(), energy.end()) - energy.begin());
    if (energy.empty() || !(energy[seed] > 0)) break;
    Index strongest = mesh_->weights.first[seed];
    for (Index e = strongest; e < mesh_->weights.first[seed + 1]; ++e)
      if (mesh_->weights.weight[to_size(e)] > mesh_->weights.weight[to_size(strongest)]) strongest = e;
    HelperBone bone;
    bone.slot = mesh_->weights.joint[to_size(strongest)];
    bone.joint = skin_->joints[to_size(bone.slot)];
    bone.centre = skin_->inverse_bind[to_size(bone.slot)] * mesh_->surface.vertices[seed];
    bone.motion.resize(to_size(frames_));
    bones_.push_back(std::move(bone));
    bone_rest_.push_back(rest_[seed]);
    for (std::size_t v = 0; v < rest_.size(); ++v) {
      const double near = std::exp(-(rest_[v] - rest_[seed]).squaredNorm() / (radius * radius));
      energy[v] *= 1 - near * parent_weight(v, bones_.back().slot);  // what hangs on other joints it can't carry
      give_share(v, near);
    }
    energy[seed] = 0;
  }
  update_candidates();
  update_carried();
}

void BoneFit::update_candidates() {
  sums_.assign(rest_.size(), {});
  for (std::size_t v = 0; v < rest_.size(); ++v) {
    std::vector<std::pair<double, Index>> near;
    for (Index h = 0; h < bone_count(); ++h)
      if (parent_weight(v, bones_[to_size(h)].slot) > least_share)
        near.emplace_back((rest_[v] - bone_rest_[to_size(h)]).squaredNorm(), h);
    std::sort(near.begin(), near.end());
    near.resize(std::min(near.size(), most_candidates));
    for (const auto& [distance, h] : near) sums_[v].bones.push_back(h);
  }
}

void BoneFit::begin_round() {
  for (Sums& sums : sums_) {
    const auto size = static_cast<Eigen::Index>(sums.bones.size());
    sums.left = MatX::Zero(size, size);
    sums.right = VecX::Zero(size);
  }
  std::fill(energy_.begin(), energy_.end(), 0.0);
  largest_error_ = squared_error_ = 0;
}

Vec3 BoneFit::moved(std::size_t v, const HelperBone& bone, Index f, const Mat3& linear) const {
  const Vec3 p = skin_->inverse_bind[to_size(bone.slot)] * mesh_->surface.vertices[v];
  return linear * (bone.motion[to_size(f)] * p - p);
}

void BoneFit::update_carried() {
  carried_.assign(bones_.size(), {});
  for (std::size_t v = 0; v < shares_.size(); ++v) {
    for (const Share& share : shares_[v]) {
      const auto h = to_size(share.bone);
      const Affine& bind = skin_->inverse_bind[to_size(bones_[h].slot)];
      carried_[h].push_back({v, share.alpha, bind * mesh_->surface.vertices[v]});
    }
  }
}

void BoneFit::add_motion(std::size_t h, Index f, const Mat3& linear, double sign) {
  const RigidTransform& motion = bones_[h].motion[to_size(f)];
  for (const Carried& c : carried_[h]) left_[c.vertex] += sign * c.alpha * (linear * (motion * c.p - c.p));
}

void BoneFit::fit_motion(std::size_t h, Index f, const Mat3& linear) {
  const Mat3 inverse = linear.inverse();
  if (!inverse.allFinite()) return;
  PointPairs sums;
  for (const Carried& c : carried_[h]) sums.add(c.alpha * c.alpha, c.p, c.p + inverse * left_[c.vertex] / c.alpha);
  bones_[h].motion[to_size(f)] = best_motion(sums);
}

void BoneFit::fit_frame(Index f, std::span<const Affine> joints, std::span<const Vec3> displacements, int sweeps) {
  left_.assign(displacements.begin(), displacements.end());
  const auto linear = [&](std::size_t h) -> Mat3 { return joints[to_size(bones_[h].joint)].linear(); };
  for (std::size_t h = 0; h < bones_.size(); ++h) add_motion(h, f, linear(h), -1);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (std::size_t h = 0; h < bones_.size(); ++h) {
      add_motion(h, f, linear(h), 1);
      fit_motion(h, f, linear(h));
      add_motion(h, f, linear(h), -1);
    }
  }
  parallel_for(static_cast<std::int64_t>(sums_.size()), 512, [&](std::int64_t i) {
    const auto v = to_size(i);
    Sums& sums = sums_[v];
    Eigen::Matrix<double, 3, Eigen::Dynamic, 0, 3, most_candidates> A(3, static_cast<Eigen::Index>(sums.bones.size()));
    for (std::size_t c = 0; c < sums.bones.size(); ++c) {
      const HelperBone& bone = bones_[to_size(sums.bones[c])];
      A.col(static_cast<Eigen::Index>(c)) = moved(v, bone, f, joints[to_size(bone.joint)].linear());
    }
    sums.left += A.transpose() * A;
    sums.right += A.transpose() * displacements[v];
    energy_[v] += left_[v].squaredNorm();
  });
  for (const Vec3& e : left_) {
    largest_error_ = std::max(largest_error_, e.norm());
    squared_error_ += e.squaredNorm();
  }
}

// A vertex with all its influences taken can only give one of them up, entirely.
std::vector<BoneFit::Share> BoneFit::best_replacement(std::size_t v, const Sums& sums) const {
  std::vector<Share> best;
  double gain = 0;
  for (std::size_t c = 0; c < sums.bones.size(); ++c) {
    const auto i = static_cast<Eigen::Index>(c);
    const double alpha = parent_weight(v, bones_[to_size(sums.bones[c])].slot);
    const double own = alpha * (2 * sums.right[i] - alpha * sums.left(i, i));
    if (own > gain) gain = own, best = {{sums.bones[c], alpha}};
  }
  return best;
}

// Helpers join one by one, each the one that helps most; after each, all that joined are fitted within their bounds by
// coordinate descent.
std::vector<BoneFit::Share> BoneFit::best_shares(std::size_t v, const Sums& sums) const {
  const auto old = to_size(mesh_->weights.first[v + 1] - mesh_->weights.first[v]);
  if (old >= influences) return best_replacement(v, sums);
  const std::size_t room = influences - old;
  const auto limit = [&](Index c, const std::vector<std::pair<Index, double>>& chosen) {
    const Index slot = bones_[to_size(sums.bones[to_size(c)])].slot;
    double free = parent_weight(v, slot);
    for (const auto& [other, alpha] : chosen)
      if (other != c && bones_[to_size(sums.bones[to_size(other)])].slot == slot) free -= alpha;
    return std::max(0.0, free);
  };
  std::vector<std::pair<Index, double>> chosen;
  const auto slope = [&](Index c) {
    double g = sums.right[c];
    for (const auto& [other, alpha] : chosen) g -= sums.left(c, other) * alpha;
    return g;
  };
  while (chosen.size() < room) {
    Index best = -1;
    double gain = 0;
    for (Index c = 0; c < static_cast<Index>(sums.bones.size()); ++c) {
      if (std::any_of(chosen.begin(), chosen.end(), [&](const auto& pair) { return pair.first == c; })) continue;
      const double alpha = std::clamp(slope(c) / (sums.left(c, c) + 1e-300), 0.0, limit(c, chosen));
      const double own = alpha * (2 * slope(c) - alpha * sums.left(c, c));
      if (alpha > least_share && own > gain) gain = own, best = c;
    }
    if (best < 0) break;
    chosen.emplace_back(best, 0.0);
    for (int round = 0; round < 20; ++round) {
      for (auto& [c, alpha] : chosen) {
        const double wanted = alpha + slope(c) / (sums.left(c, c) + 1e-300);
        alpha = std::clamp(wanted, 0.0, limit(c, chosen));
      }
    }
  }
  std::vector<Share> shares;
  for (const auto& [c, alpha] : chosen)
    if (alpha > least_share) shares.push_back({sums.bones[to_size(c)], alpha});
  return shares;
}

void BoneFit::fit_weights() {
  parallel_for(static_cast<std::int64_t>(sums_.size()), 512, [&](std::int64_t i) {
    const auto v = to_size(i);
    shares_[v] = best_shares(v, sums_[v]);
  });
  update_carried();
}

MeshBones BoneFit::result() const {
  MeshBones result;
  result.bones = bones_;
  result.weights.first.push_back(0);
  const auto joints = static_cast<Index>(skin_->joints.size());
  for (std::size_t v = 0; v < shares_.size(); ++v) {
    for (Index e = mesh_->weights.first[v]; e < mesh_->weights.first[v + 1]; ++e) {
      const Index slot = mesh_->weights.joint[to_size(e)];
      double weight = mesh_->weights.weight[to_size(e)];
      for (const Share& share : shares_[v])
        if (bones_[to_size(share.bone)].slot == slot) weight -= share.alpha;
      if (weight <= 1e-6) continue;
      result.weights.joint.push_back(slot);
      result.weights.weight.push_back(weight);
    }
    for (const Share& share : shares_[v]) {
      result.weights.joint.push_back(joints + share.bone);
      result.weights.weight.push_back(share.alpha);
    }
    result.weights.first.push_back(static_cast<Index>(result.weights.joint.size()));
  }
  return result;
}

}  // namespace supple
