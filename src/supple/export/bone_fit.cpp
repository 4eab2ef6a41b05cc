// SPDX-License-Identifier: Apache-2.0
#include "supple/export/bone_fit.h"

#include "supple/base/parallel.h"
#include "supple/export/stretched_motion.h"
#include "supple/math/dense/simplex_quadratic.h"

#include <Eigen/LU>

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

constexpr std::size_t most_candidates = 8;  // helpers that a vertex may choose from, the nearest ones
constexpr std::size_t influences = 4;       // of a vertex, old and new, that players handle
constexpr double least_share = 1e-4;        // weights below aren't worth an influence
constexpr double still = 1e-5;  // share of a helper's moments that holds it to its parent where nothing else does

using Matrix34 = BoneFit::Matrix34;
using Moments = BoneFit::Moments;

/// What holds a helper with these moments to where it is at rest.
Eigen::Vector4d hold_of(const Moments& N) {
  constexpr double nothing = 1e-12;  // a helper that carries nobody stays where it is
  const double extent = still * (N.topLeftCorner<3, 3>().trace() / 3 + nothing), mass = still * (N(3, 3) + nothing);
  return {extent, extent, extent, mass};
}

Matrix34 product(const Affine& a, const Matrix34& b) {
  Matrix34 result = a.linear() * b;
  result.col(3) += a.translation();
  return result;
}

Vec3 apply(const Matrix34& G, const Vec3& q) { return G.leftCols<3>() * q + G.col(3); }

}  // namespace

BoneFit::BoneFit(const RawCharacter& character, const CharacterMesh& mesh, std::span<const Vec3> rest)
    : mesh_(&mesh),
      skin_(&character.skins[to_size(mesh.skin)]),
      rest_(rest.begin(), rest.end()),
      found_{{}, std::vector<std::vector<Share>>(rest.size()), std::vector<double>(rest.size(), 0.0), 0} {
  for (std::size_t v = 0; v < found_.shares.size(); ++v)
    for (Index e = mesh.weights.first[v]; e < mesh.weights.first[v + 1]; ++e)
      found_.shares[v].push_back({mesh.weights.joint[to_size(e)], mesh.weights.weight[to_size(e)]});
}

Vec3 BoneFit::in_bone(std::size_t h, std::size_t v) const {
  const HelperBone& bone = found_.bones[h].helper;
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
  for (std::size_t v = 0; v < found_.energy.size(); ++v) found_.energy[v] += displacements[v].squaredNorm();
  found_.squared_error = 0;
  for (const double e : found_.energy) found_.squared_error += e;
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
  const Eigen::Vector4d hold = hold_of(N);
  N.diagonal() += hold;
  const Moments inverse = N.inverse();
  bone.world.resize(kept_.size());
  parallel_for(static_cast<std::int64_t>(kept_.size()), 4, [&](std::int64_t i) {
    const Kept& frame = kept_[to_size(i)];
    const Affine& parent = frame.joints[to_size(bone.helper.slot)];
    Matrix34 D = product(parent, at_rest(bone)) * hold.asDiagonal();
    for (const auto& [v, q] : patch) D += nearness[v] * nearness[v] * frame.places[v] * q.transpose();
    bone.world[to_size(i)] = D * inverse;
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
  found_.bones.push_back(std::move(bone));
}

void BoneFit::add_bones(Index count, double radius) {
  std::vector<double> energy = found_.energy;
  for (Index k = 0; k < count; ++k) seed(radius, energy);
}

// ---- motions --------------------------------------------------------------------------------------------------------

void BoneFit::update_moments() {
  const Eigen::Index count = std::ssize(found_.bones);
  MatX moments = MatX::Zero(4 * count, 4 * count);
  for (std::size_t v = 0; v < found_.shares.size(); ++v) {
    for (const Share& a : found_.shares[v]) {
      if (a.bone < joint_count()) continue;
      const Eigen::Index h = a.bone - joint_count();
      const Eigen::Vector4d q = in_bone(to_size(h), v).homogeneous();
      for (const Share& b : found_.shares[v]) {
        if (b.bone < joint_count()) continue;
        const Eigen::Index k = b.bone - joint_count();
        const Eigen::Vector4d other = in_bone(to_size(k), v).homogeneous();
        moments.block<4, 4>(4 * h, 4 * k) += a.weight * b.weight * q * other.transpose();
      }
    }
  }
  hold_.resize(4 * count);
  for (Eigen::Index h = 0; h < count; ++h) hold_.segment<4>(4 * h) = hold_of(moments.block<4, 4>(4 * h, 4 * h));
  moments.diagonal() += hold_;
  factor_ = PositiveFactor(moments);
}

Vec3 BoneFit::carried_by_joints(const Kept& frame, std::size_t v) const {
  Vec3 x = Vec3::Zero();
  for (const Share& share : found_.shares[v]) {
    if (share.bone >= joint_count()) continue;
    const auto slot = to_size(share.bone);
    x += share.weight * (frame.joints[slot] * (skin_->inverse_bind[slot] * mesh_->surface.vertices[v]));
  }
  return x;
}

std::vector<Matrix34> BoneFit::best_motions(const Kept& frame) const {
  const Eigen::Index count = std::ssize(found_.bones);
  if (count == 0) return {};
  MatX C = MatX::Zero(3, 4 * count);
  for (Eigen::Index h = 0; h < count; ++h) {
    const Bone& bone = found_.bones[to_size(h)];
    C.middleCols<4>(4 * h) =
        product(frame.joints[to_size(bone.helper.slot)], at_rest(bone)) * hold_.segment<4>(4 * h).asDiagonal();
  }
  for (std::size_t v = 0; v < found_.shares.size(); ++v) {
    const bool helped = std::any_of(found_.shares[v].begin(), found_.shares[v].end(),
                                    [&](const Share& share) { return share.bone >= joint_count(); });
    if (!helped) continue;
    const Vec3 r = frame.places[v] - carried_by_joints(frame, v);
    for (const Share& share : found_.shares[v]) {
      if (share.bone < joint_count()) continue;
      const Eigen::Index h = share.bone - joint_count();
      const Eigen::Vector4d q = in_bone(to_size(h), v).homogeneous();
      C.middleCols<4>(4 * h) += share.weight * r * q.transpose();
    }
  }
  const MatX solved = factor_.solve(MatX(C.transpose()));
  std::vector<Matrix34> motions;
  for (Eigen::Index h = 0; h < count; ++h) motions.emplace_back(solved.middleRows<4>(4 * h).transpose());
  return motions;
}

void BoneFit::fit_motions() {
  update_moments();
  parallel_for(static_cast<std::int64_t>(kept_.size()), 2, [&](std::int64_t i) {
    const std::vector<Matrix34> motions = best_motions(kept_[to_size(i)]);
    for (std::size_t h = 0; h < found_.bones.size(); ++h) found_.bones[h].world[to_size(i)] = motions[h];
  });
}

// ---- weights --------------------------------------------------------------------------------------------------------

std::vector<Index> BoneFit::candidates(std::size_t v) const {
  std::vector<Index> result;
  for (Index e = mesh_->weights.first[v]; e < mesh_->weights.first[v + 1]; ++e)
    result.push_back(mesh_->weights.joint[to_size(e)]);
  std::vector<std::pair<double, Index>> near;
  for (std::size_t h = 0; h < found_.bones.size(); ++h)
    near.emplace_back((rest_[v] - found_.bones[h].place).squaredNorm(), static_cast<Index>(h));
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
                                       : apply(found_.bones[to_size(bone - joint_count())].world[f], p)) -
                 kept_[f].places[v];
    }
    G.noalias() += e.transpose() * e;
  }
  const std::size_t old = to_size(mesh_->weights.first[v + 1] - mesh_->weights.first[v]);
  SimplexVector w = simplex_minimum(G, static_cast<int>(std::max(influences, old)));
  double sum = 0;
  for (double& weight : w) sum += weight = weight < least_share ? 0.0 : weight;
  w /= sum;
  found_.shares[v].clear();
  for (Eigen::Index c = 0; c < count; ++c)
    if (w[c] > 0) found_.shares[v].push_back({chosen[to_size(c)], w[c]});
  found_.energy[v] = w.dot(G * w);
}

void BoneFit::update_places() {
  for (std::size_t h = 0; h < found_.bones.size(); ++h) {
    const Index bone = joint_count() + static_cast<Index>(h);
    Vec3 sum = Vec3::Zero();
    double mass = 0;
    for (std::size_t v = 0; v < found_.shares.size(); ++v) {
      for (const Share& share : found_.shares[v]) {
        if (share.bone != bone) continue;
        sum += share.weight * rest_[v];
        mass += share.weight;
      }
    }
    if (mass > 0) found_.bones[h].place = sum / mass;
  }
}

void BoneFit::fit_weights() {
  parallel_for(static_cast<std::int64_t>(found_.shares.size()), 64, [&](std::int64_t v) { fit_vertex(to_size(v)); });
  found_.squared_error = 0;
  for (const double e : found_.energy) found_.squared_error += e;
  update_places();
}

// ---- the end --------------------------------------------------------------------------------------------------------

void BoneFit::add_frame(std::span<const Affine> joints, std::span<const Vec3> displacements, std::span<Vec3> left) {
  const Kept frame = frame_of(joints, displacements);
  if (!found_.bones.empty() && found_.bones.front().helper.motion.empty()) update_moments();
  const std::vector<Matrix34> motions = best_motions(frame);
  for (std::size_t h = 0; h < found_.bones.size(); ++h) {
    HelperBone& bone = found_.bones[h].helper;
    Matrix34 local = product(frame.joints[to_size(bone.slot)].inverse(), motions[h]);
    if (!local.allFinite()) local = at_rest(found_.bones[h]);  // nothing shows below a joint that is scaled to nothing
    const Quat before = bone.turn.empty() ? Quat::Identity() : bone.turn.back();
    const StretchedMotion motion = stretched_motion(local, before);
    bone.motion.push_back(motion.outer);
    bone.turn.push_back(motion.turn);
  }
  for (std::size_t v = 0; v < left.size(); ++v) {
    left[v] = frame.places[v] - carried_by_joints(frame, v);
    for (const Share& share : found_.shares[v]) {
      if (share.bone < joint_count()) continue;
      const auto h = to_size(share.bone - joint_count());
      left[v] -= share.weight * apply(motions[h], in_bone(h, v));
    }
  }
}

MeshBones BoneFit::result() const {
  MeshBones result;
  for (const Bone& bone : found_.bones) result.bones.push_back(bone.helper);
  result.weights.first.push_back(0);
  for (const std::vector<Share>& shares : found_.shares) {
    for (const Share& share : shares) {
      result.weights.joint.push_back(share.bone);
      result.weights.weight.push_back(share.weight);
    }
    result.weights.first.push_back(static_cast<Index>(result.weights.joint.size()));
  }
  return result;
}

}  // namespace supple
