// SPDX-License-Identifier: Apache-2.0
// Bases of patches in several poses: blended, they must still hold what the flesh is known to do.
#include "supple/offline/posespace/bases/pose_bases.h"

#include "supple/offline/modes/constrained_modes.h"
#include "supple/offline/modes/mass_pca.h"
#include "supple/offline/posespace/bases/align_bases.h"
#include "supple/offline/posespace/bases/basis_store.h"
#include "support/bodies.h"
#include "support/dense_truth.h"
#include "support/soft_limb.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

namespace supple::pose_bases_test {
namespace {

constexpr int moments = 12;

/// A limb that bends while it is shaken, with two patches, and how its flesh gives way.
struct ShakenLimb {
  SoftLimb limb = make_soft_limb();
  ElasticBody body = must(ElasticBody::create(limb.body.mesh, MaterialModel::flesh));
  std::shared_ptr<const Rig> rest = limb.rig.rig();
  FrameSites frames;
  KnownMotion motion;
  TaughtShapes taught;  ///< Rᵀ K_p⁻¹ M R a of every column
  MatX truth;
  std::vector<Patch> patches;

  ShakenLimb() {
    const std::vector<PatchHandle> handles = {{"low", {Vec3(0, 0.2, 0)}, {}}, {"high", {Vec3(0, 0.8, 0)}, {}}};
    patches = must(make_patches(limb.body.mesh, handles)).patches;
    std::vector<Index> all(limb.body.mesh.vertices.size());
    std::iota(all.begin(), all.end(), 0);
    std::vector<std::vector<Vec3>> shapes;
    for (const double share : {0.25, 0.5, 0.75, 1.0}) shapes.push_back(evaluate_all(*rest, pose_at(share)));
    frames = choose_frame_sites(limb.body.mesh, all, shapes);
    std::vector<VecX> answers;
    for (int k = 0; k < moments; ++k) {
      const std::vector<double> p = pose_at(static_cast<double>(k) / (moments - 1));
      const PoseBasis pose = posed(p);
      const MatX a = accelerations(pose);
      const Eigen::Map<const VecX> x(pose.positions.front().data(), body.dof_count());
      const ElasticBody there = body.posed(x);
      const auto held = must(ConstrainedBody::create({.body = there, .fixed = limb.body.fixed_vertices}));
      const MatX u = held.responses(multiply_columns(body.consistent_mass(), turned(pose.turns, a, false)));
      for (Eigen::Index c = 0; c < a.cols(); ++c) {
        answers.emplace_back(turned(pose.turns, u.col(c), true));
        taught.poses.push_back(p);
        taught.clips.push_back(0);
      }
    }
    truth.resize(body.dof_count(), std::ssize(answers));
    for (std::size_t c = 0; c < answers.size(); ++c) truth.col(static_cast<Eigen::Index>(c)) = answers[c];
    taught.displacements = truth;
  }

  std::vector<double> pose_at(double share) const {
    return limb_pose(limb, {.root = {}, .knee = 1.4 * share, .ankle = 0.9 * share * share}).p;
  }
  PoseBasis posed(const std::vector<double>& p) const {
    PoseBasis pose{p, evaluate_all(*rest, p), {}, {}, {}};
    pose.turns = blended_rotations(limb.body.mesh, frames, pose.positions);
    return pose;
  }
  static MatX turned(const std::vector<Mat3>& turns, MatX x, bool back) {
    for (std::size_t v = 0; v < turns.size(); ++v) {
      auto rows = x.middleRows<3>(3 * static_cast<Eigen::Index>(v));
      rows = ((back ? Mat3(turns[v].transpose()) : turns[v]) * rows).eval();
    }
    return x;
  }
  /// Along the axes and about them, and a ripple along the limb, turned back.
  MatX accelerations(const PoseBasis& pose) const {
    MatX a(body.dof_count(), 9);
    for (std::size_t v = 0; v < pose.positions.size(); ++v) {
      const Vec3 x = pose.positions[v];
      auto rows = a.middleRows<3>(3 * static_cast<Eigen::Index>(v));
      for (int axis = 0; axis < 3; ++axis) {
        const Vec3 along = Vec3::Unit(axis);
        rows.col(axis) = along;
        rows.col(3 + axis) = 2 * along.cross(x);
        rows.col(6 + axis) = std::sin(9 * limb.body.mesh.vertices[v].y()) * along;
      }
    }
    return turned(pose.turns, a, true);
  }

  /// `size` directions for the whole body, or for each patch.
  PoseBasesInput input(bool local, int size, const PoseSpaceWeights* weights) {
    for (Patch& patch : patches) patch.modes = size;
    return {.body = body,
            .mesh = limb.body.mesh,
            .rest = *rest,
            .fixed = limb.body.fixed_vertices,
            .motion = motion,
            .teach = [this] { return taught; },
            .skin = &limb.body.embedding,
            .weights = weights,
            .patches = local ? std::span<const Patch>(patches) : std::span<const Patch>(),
            .contacts = {},
            .size = size};
  }

  /// What the blended bases of so many poses along the bend miss of the truth, by mass.
  double missed(bool local, int size, int count) {
    std::vector<PoseBasis> poses;
    std::vector<std::vector<double>> parameters;
    for (int k = 0; k < count; ++k) {
      parameters.push_back(pose_at(count > 1 ? static_cast<double>(k) / (count - 1) : 0));
      poses.push_back(posed(parameters.back()));
    }
    std::optional<PoseSpaceWeights> weights;
    if (count > 1) weights = must(PoseSpaceWeights::create(rest->layout(), parameters));
    const BlockMatrix& mass = body.consistent_mass();
    const PoseBases made =
        must(make_bases(input(local, size, weights ? &*weights : nullptr), poses, Progress::silent()));
    align_bases(mass, rest->layout(), made.patch_sizes, poses);
    if (local) expect_within_patches(poses);
    std::vector<double> w(poses.size(), 1.0), scratch = w;
    double left = 0, total = 0;
    for (Eigen::Index c = 0; c < truth.cols(); ++c) {
      if (weights) weights->evaluate(taught.poses[to_size(c)], w, scratch);
      MatX U = MatX::Zero(truth.rows(), poses[0].basis.cols());
      for (std::size_t i = 0; i < poses.size(); ++i) U += w[i] * poses[i].basis;
      const MatX M_U = multiply_columns(mass, U);
      const VecX q = truth::solve_symmetric(U.transpose() * M_U, VecX(M_U.transpose() * truth.col(c)));
      left += mass_norms(mass, truth.col(c) - U * q).squaredNorm();
      total += mass_norms(mass, truth.col(c)).squaredNorm();
    }
    return std::sqrt(left / total);
  }

  /// Orthonormal by mass within each patch, and zero outside of it.
  void expect_within_patches(const std::vector<PoseBasis>& poses) const {
    for (const PoseBasis& pose : poses) {
      Eigen::Index first = 0;
      for (const Patch& patch : patches) {
        const MatX own = pose.basis.middleCols(first, patch.modes);
        const MatX gram = own.transpose() * multiply_columns(body.consistent_mass(), own);
        EXPECT_LT((gram - MatX::Identity(gram.rows(), gram.cols())).norm(), 1e-9);
        for (Eigen::Index v = 0; v < patch.weights.size(); ++v) {
          if (patch.weights[v] > 0) continue;
          EXPECT_EQ(own.middleRows<3>(3 * v).norm(), 0);
        }
        first += patch.modes;
      }
    }
  }
};

TEST(PoseBases, OfPatchesAgreeAcrossPoses) {
  ShakenLimb shaken;
  const double whole = shaken.missed(false, 12, 4), one = shaken.missed(true, 12, 1), four = shaken.missed(true, 12, 4);
  RecordProperty("whole_body", std::to_string(whole));
  RecordProperty("one_pose", std::to_string(one));
  RecordProperty("four_poses", std::to_string(four));
  // As many directions in each patch as for the whole body leave it more room, whatever the number of poses.
  EXPECT_LT(one, whole);
  EXPECT_LT(four, whole);
  EXPECT_LT(four, 1.1 * one);
}

/// Knows nothing, and remembers what it was asked for.
struct AskedStore : StageStore {
  std::set<std::string> asked;
  std::optional<std::string> find(std::string_view /*stage*/, const ContentHash& content) override {
    asked.insert(content.text());
    return {};
  }
  void keep(std::string_view /*stage*/, const ContentHash& /*content*/, std::string_view /*bytes*/) override {}
};

TEST(PoseBases, OfAPatchAreKeptForTheseNeighboursOnly) {
  ShakenLimb shaken;
  const PoseBasis pose = shaken.posed(shaken.pose_at(0));
  AskedStore store;
  const auto ask = [&] {
    PoseBasesInput input = shaken.input(true, 24, nullptr);
    input.store = &store;
    return find_or_make_basis(input, pose, 0, 0, 12, [] { return Result<PatchBasis>(PatchBasis{}); });
  };
  EXPECT_TRUE(ask().ok());
  EXPECT_TRUE(ask().ok());
  EXPECT_EQ(store.asked.size(), 1u);
  shaken.patches[1].weights *= 0.5;
  EXPECT_TRUE(ask().ok());
  EXPECT_EQ(store.asked.size(), 2u);
}

}  // namespace
}  // namespace supple::pose_bases_test
