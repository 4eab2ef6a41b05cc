// SPDX-License-Identifier: Apache-2.0
#include "supple/export/bone_fit.h"

#include "supple/base/parallel.h"
#include "supple/math/dense/simplex_quadratic.h"
#include "supple/math/dense/svd3.h"

#include <Eigen/LU>

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

constexpr std::size_t most_candidates = 8;  // helpers that a vertex may choose from, the nearest ones
constexpr std::size_t influences = 4;       // of a vertex, old and new, that players handle
constexpr double least_share = 1e-4;        // weights below aren't worth an influence
constexpr double still = 1e-5;  // share of a bone's extent that holds it to its parent where nothing else does
constexpr double least_scale = 0.2, most_scale = 5;

using Matrix34 = BoneFit::Matrix34;
using Moments = BoneFit::Moments;

/// The best motion [R S | t] of points q within their parent: argmin tr(G N Gᵀ) − 2 tr(G Dᵀ). With t eliminated, R S
/// fits D′ = D − D_t cᵀ/m by turns: R = the rotation nearest to D′ S (W. Kabsch, 1976), S_i = (Rᵀ D′)_ii / M′_ii.
Matrix34 best_motion(const Moments& N, const Matrix34& D, const Matrix34& rest) {
  const double mass = N(3, 3);
  if (!(mass > 1e-12)) return rest;
  const Vec3 c = N.topRightCorner<3, 1>();
  Mat3 M = N.topLeftCorner<3, 3>() - c * c.transpose() / mass;
  const double hold = still * M.trace() / 3 + 1e-300;
  const Mat3 H = D.leftCols<3>() - D.col(3) * c.transpose() / mass + hold * rest.leftCols<3>();
  M += hold * Mat3::Identity();
  Vec3 scale = Vec3::Ones();
  Mat3 R = Mat3::Identity();
  for (int turn = 0; turn < 4; ++turn) {
    const Svd3<double> svd = svd3<double>(H * scale.asDiagonal());
    R = svd.U * svd.V.transpose();  // both are rotations: so is R, and the best one
    for (int i = 0; i < 3; ++i) scale[i] = std::clamp(R.col(i).dot(H.col(i)) / M(i, i), least_scale, most_scale);
  }
  Matrix34 motion;
  motion.leftCols<3>() = R * scale.asDiagonal();
  motion.col(3) = (D.col(3) - motion.leftCols<3>() * c) / mass;
  return motion.allFinite() ? motion : rest;
}

Matrix34 product(const Affine& a, const Matrix34& b) {
  Matrix34 result = a.linear() * b;
  result.col(3) += a.translation();
  return result;
}

Vec3 apply(const Matrix34& G, const Vec3& q) { return G.leftCols<3>() * q + G.col(3); }

Transform transform_of(const Matrix34& local) {
  Transform transform;
  Mat3 R = local.leftCols<3>();
  for (int i = 0; i < 3; ++i) transform.scale[i] = R.col(i).norm();
  R = R * transform.scale.cwiseInverse().asDiagonal();
  transform.rotation = Quat(R).normalized();
  transform.translation = local.col(3);
  return transform;
}

}  // namespace

BoneFit::BoneFit(const RawCharacter& character, const CharacterMesh& mesh, std::span<const Vec3> rest)
    : mesh_(&mesh),
      skin_(&character.skins[to_size(mesh.skin)]),
      rest_(rest.begin(), rest.end()),
      shares_(rest.size()),
      energy_(rest.size(), 0.0) {
  for (std::size_t v = 0; v < shares_.size(); ++v)
    for (Index e = mesh.weights.first[v]; e < mesh.weights.first[v + 1]; ++e)
      shares_[v].push_back({mesh.weights.joint[to_size(e)], mesh.weights.weight[to_size(e)]});
}

Vec3 BoneFit::in_bone(std::size_t h, std::size_t v) const {
  const HelperBone& bone = bones_[h].helper;
  return skin_->inverse_bind[to_size(bone.slot)] * mesh_->surface.vertices[v] - bone.centre;
}

BoneFit::Matrix34 BoneFit::at_rest(const Bone& bone) const {
  Matrix34 rest = Matrix34::Identity();
  rest.col(3) = bone.helper.centre;
  return rest;
}

BoneFit::Kept BoneFit::frame_of(std::span<const Affine> joints, std::span<const Vec3> displacements) const {
  Kept frame;
  for (const Index joint : skin_->joints) frame.joints.push_back(joints[to_size(joint)]);
  frame.places.resize(rest_.size());
  const SkinWeights& weights = mesh_->weights;
  for (std::size_t v = 0; v < rest_.size(); ++v) {
    Vec3 x = displacements[v];
    for (auto e = to_size(weights.first[v]); e < to_size(weights.first[v + 1]); ++e) {
      const auto slot = to_size(weights.joint[e]);
      x += weights.weight[e] * (frame.joints[slot] * (skin_->inverse_bind[slot] * mesh_->surface.vertices[v]));
    }
    frame.places[v] = x;
  }
  return frame;
}

void BoneFit::keep(std::span<const Affine> joints, std::span<const Vec3> displacements) {
  kept_.push_back(frame_of(joints, displacements));
  for (std::size_t v = 0; v < energy_.size(); ++v) energy_[v] += displacements[v].squaredNorm();
  squared_error_ = 0;
  for (const double e : energy_) squared_error_ += e;
}

void BoneFit::follow_patch(Bone& bone, std::span<const double> nearness) const {
  const Affine& bind = skin_->inverse_bind[to_size(bone.helper.slot)];
  Moments N = Moments::Zero();
  std::vector<std::pair<std::size_t, Eigen::Vector4d>> patch;
  for (std::size_t v = 0; v < rest_.size(); ++v) {
    if (nearness[v] < 0.02) continue;
    const Eigen::Vector4d q = (bind * mesh_->surface.vertices[v] - bone.helper.centre).homogeneous();
    patch.emplace_back(v, q);
    N += nearness[v] * nearness[v] * q * q.transpose();
  }
  bone.local.resize(kept_.size());
  bone.world.resize(kept_.size());
  parallel_for(static_cast<std::int64_t>(kept_.size()), 4, [&](std::int64_t i) {
    const Kept& frame = kept_[to_size(i)];
    const Affine& parent = frame.joints[to_size(bone.helper.slot)];
    const Affine inverse = parent.inverse();
    Matrix34 D = Matrix34::Zero();
    for (const auto& [v, q] : patch) D += nearness[v] * nearness[v] * (inverse * frame.places[v]) * q.transpose();
    bone.local[to_size(i)] = best_motion(N, D, at_rest(bone));
    bone.world[to_size(i)] = product(parent, bone.local[to_size(i)]);
  });
}

void BoneFit::seed(double radius, std::vector<double>& energy) {
  // Of some vertices the one with the most error around it.
  const std::size_t n = rest_.size(), stride = std::max<std::size_t>(1, n / 500);
  std::vector<double> around(n / stride + 1, 0.0);
  parallel_for(static_cast<std::int64_t>(around.size()), 8, [&](std::int64_t i) {
    const std::size_t s = to_size(i) * stride;
    if (s >= n) return;
    for (std::size_t v = 0; v < n; ++v)
      around[to_size(i)] += energy[v] * std::exp(-4 * (rest_[v] - rest_[s]).squaredNorm() / (radius * radius));
  });
  const auto best = to_size(std::max_element(around.begin(), around.end()) - around.begin());
  const std::size_t at = best * stride;
  if (!(around[best] > 0)) return;
  Bone bone;
  Index strongest = mesh_->weights.first[at];
  for (Index e = strongest; e < mesh_->weights.first[at + 1]; ++e)
    if (mesh_->weights.weight[to_size(e)] > mesh_->weights.weight[to_size(strongest)]) strongest = e;
  bone.helper.slot = mesh_->weights.joint[to_size(strongest)];
  bone.helper.joint = skin_->joints[to_size(bone.helper.slot)];
  bone.helper.centre = skin_->inverse_bind[to_size(bone.helper.slot)] * mesh_->surface.vertices[at];
  bone.place = rest_[at];
  // What hardly moves would only slow the helper down.
  const double most = *std::max_element(energy.begin(), energy.end());
  std::vector<double> nearness(n);
  for (std::size_t v = 0; v < n; ++v) {
    const double near = std::exp(-(rest_[v] - rest_[at]).squaredNorm() / (radius * radius));
    nearness[v] = near * std::sqrt(energy[v] / most);
    energy[v] *= 1 - near;
  }
  follow_patch(bone, nearness);
  bones_.push_back(std::move(bone));
}

void BoneFit::add_bones(Index count, double radius) {
  std::vector<double> energy = energy_;
  for (Index k = 0; k < count; ++k) seed(radius, energy);
}

// ---- motions --------------------------------------------------------------------------------------------------------

void BoneFit::update_moments() {
  const std::size_t count = bones_.size();
  moments_.assign(count * count, Moments::Zero());
  for (std::size_t v = 0; v < shares_.size(); ++v) {
    for (const Share& a : shares_[v]) {
      if (a.bone < joint_count()) continue;
      const auto h = to_size(a.bone - joint_count());
      const Eigen::Vector4d q = in_bone(h, v).homogeneous();
      for (const Share& b : shares_[v]) {
        if (b.bone < joint_count()) continue;
        const auto k = to_size(b.bone - joint_count());
        const Eigen::Vector4d other = in_bone(k, v).homogeneous();
        moments_[h * count + k] += a.weight * b.weight * q * other.transpose();
      }
    }
  }
}

Vec3 BoneFit::carried_by_joints(const Kept& frame, std::size_t v) const {
  Vec3 x = Vec3::Zero();
  for (const Share& share : shares_[v]) {
    if (share.bone >= joint_count()) continue;
    const auto slot = to_size(share.bone);
    x += share.weight * (frame.joints[slot] * (skin_->inverse_bind[slot] * mesh_->surface.vertices[v]));
  }
  return x;
}

void BoneFit::solve_frame(const Kept& frame, int sweeps, FrameMotions& motions) const {
  const std::size_t count = bones_.size();
  std::vector<Matrix34> C(count, Matrix34::Zero());
  for (std::size_t v = 0; v < shares_.size(); ++v) {
    const bool helped = std::any_of(shares_[v].begin(), shares_[v].end(),
                                    [&](const Share& share) { return share.bone >= joint_count(); });
    if (!helped) continue;
    const Vec3 r = frame.places[v] - carried_by_joints(frame, v);
    for (const Share& share : shares_[v]) {
      if (share.bone < joint_count()) continue;
      const auto h = to_size(share.bone - joint_count());
      const Eigen::Vector4d q = in_bone(h, v).homogeneous();
      C[h] += share.weight * r * q.transpose();
    }
  }
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (std::size_t h = 0; h < count; ++h) {
      Matrix34 D = C[h];
      for (std::size_t k = 0; k < count; ++k)
        if (k != h) D -= motions.world[k] * moments_[k * count + h];
      const Affine& parent = frame.joints[to_size(bones_[h].helper.slot)];
      const Moments& N = moments_[h * count + h];
      D -= parent.translation() * N.row(3);
      motions.local[h] = best_motion(N, parent.linear().inverse() * D, at_rest(bones_[h]));
      motions.world[h] = product(parent, motions.local[h]);
    }
  }
}

void BoneFit::fit_motions(int sweeps) {
  update_moments();
  parallel_for(static_cast<std::int64_t>(kept_.size()), 2, [&](std::int64_t i) {
    const auto f = to_size(i);
    FrameMotions motions;
    for (const Bone& bone : bones_) {
      motions.local.push_back(bone.local[f]);
      motions.world.push_back(bone.world[f]);
    }
    solve_frame(kept_[f], sweeps, motions);
    for (std::size_t h = 0; h < bones_.size(); ++h) {
      bones_[h].local[f] = motions.local[h];
      bones_[h].world[f] = motions.world[h];
    }
  });
}

// ---- weights --------------------------------------------------------------------------------------------------------

std::vector<Index> BoneFit::candidates(std::size_t v) const {
  std::vector<Index> result;
  for (Index e = mesh_->weights.first[v]; e < mesh_->weights.first[v + 1]; ++e)
    result.push_back(mesh_->weights.joint[to_size(e)]);
  std::vector<std::pair<double, Index>> near;
  for (std::size_t h = 0; h < bones_.size(); ++h)
    near.emplace_back((rest_[v] - bones_[h].place).squaredNorm(), static_cast<Index>(h));
  std::sort(near.begin(), near.end());
  for (const auto& [distance, h] : near)
    if (result.size() < to_size(most_simplex_entries) && result.size() < most_candidates + influences)
      result.push_back(joint_count() + h);
  return result;
}

void BoneFit::fit_vertex(std::size_t v) {
  const std::vector<Index> chosen = candidates(v);
  const auto count = static_cast<Eigen::Index>(chosen.size());
  std::vector<Vec3> points;
  for (const Index bone : chosen)
    points.push_back(bone < joint_count() ? Vec3(skin_->inverse_bind[to_size(bone)] * mesh_->surface.vertices[v])
                                          : in_bone(to_size(bone - joint_count()), v));
  SimplexMatrix G = SimplexMatrix::Zero(count, count);
  Eigen::Matrix<double, 3, Eigen::Dynamic, 0, 3, most_simplex_entries> e(3, count);
  for (std::size_t f = 0; f < kept_.size(); ++f) {
    for (Eigen::Index c = 0; c < count; ++c) {
      const Index bone = chosen[to_size(c)];
      const Vec3& p = points[to_size(c)];
      e.col(c) = (bone < joint_count() ? Vec3(kept_[f].joints[to_size(bone)] * p)
                                       : apply(bones_[to_size(bone - joint_count())].world[f], p)) -
                 kept_[f].places[v];
    }
    G.noalias() += e.transpose() * e;
  }
  const std::size_t old = to_size(mesh_->weights.first[v + 1] - mesh_->weights.first[v]);
  SimplexVector w = simplex_minimum(G, static_cast<int>(std::max(influences, old)));
  double sum = 0;
  for (double& weight : w) sum += weight = weight < least_share ? 0.0 : weight;
  w /= sum;
  shares_[v].clear();
  for (Eigen::Index c = 0; c < count; ++c)
    if (w[c] > 0) shares_[v].push_back({chosen[to_size(c)], w[c]});
  energy_[v] = w.dot(G * w);
}

void BoneFit::update_places() {
  for (std::size_t h = 0; h < bones_.size(); ++h) {
    const Index bone = joint_count() + static_cast<Index>(h);
    Vec3 sum = Vec3::Zero();
    double mass = 0;
    for (std::size_t v = 0; v < shares_.size(); ++v) {
      for (const Share& share : shares_[v]) {
        if (share.bone != bone) continue;
        sum += share.weight * rest_[v];
        mass += share.weight;
      }
    }
    if (mass > 0) bones_[h].place = sum / mass;
  }
}

void BoneFit::fit_weights() {
  parallel_for(static_cast<std::int64_t>(shares_.size()), 64, [&](std::int64_t v) { fit_vertex(to_size(v)); });
  squared_error_ = 0;
  for (const double e : energy_) squared_error_ += e;
  update_places();
}

// ---- the end --------------------------------------------------------------------------------------------------------

void BoneFit::add_frame(std::span<const Affine> joints, std::span<const Vec3> displacements, int sweeps,
                        std::span<Vec3> left) {
  const Kept frame = frame_of(joints, displacements);
  if (moments_.size() != bones_.size() * bones_.size() || last_.local.size() != bones_.size()) {
    update_moments();
    last_ = {};
    for (const Bone& bone : bones_) last_.local.push_back(at_rest(bone));
    last_.world.resize(bones_.size());
  }
  for (std::size_t h = 0; h < bones_.size(); ++h)
    last_.world[h] = product(frame.joints[to_size(bones_[h].helper.slot)], last_.local[h]);
  solve_frame(frame, sweeps, last_);
  for (std::size_t h = 0; h < bones_.size(); ++h) bones_[h].helper.motion.push_back(transform_of(last_.local[h]));
  for (std::size_t v = 0; v < left.size(); ++v) {
    left[v] = frame.places[v] - carried_by_joints(frame, v);
    for (const Share& share : shares_[v]) {
      if (share.bone < joint_count()) continue;
      const auto h = to_size(share.bone - joint_count());
      left[v] -= share.weight * apply(last_.world[h], in_bone(h, v));
    }
  }
}

MeshBones BoneFit::result() const {
  MeshBones result;
  for (const Bone& bone : bones_) result.bones.push_back(bone.helper);
  result.weights.first.push_back(0);
  for (const std::vector<Share>& shares : shares_) {
    for (const Share& share : shares) {
      result.weights.joint.push_back(share.bone);
      result.weights.weight.push_back(share.weight);
    }
    result.weights.first.push_back(static_cast<Index>(result.weights.joint.size()));
  }
  return result;
}

}  // namespace supple
