// SPDX-License-Identifier: Apache-2.0
// What is shown of a soft character beside the formula, ū = A R Σ_i Û_i (w_i Υ q), written down plainly: with one pose
// and several, with turning directions and those of the world, in blocks that fill vectors and such that don't.
#include "supple/runtime/posespace/surface_shape.h"

#include "supple/runtime/posespace/pose_interpolation.h"

#include "runtime/allocation_counter.h"
#include "support/bodies.h"

namespace supple::surface_shape_test {
namespace {

constexpr Index coordinates = 13;
/// Û_iᵀ M Û_j for i ≠ j, times the identity.
constexpr double between_poses = 0.4;

/// Rotations of the sites: the second and the third are 340° apart around one axis, so 20° around the other way.
const std::vector<Quat> turns = {
    Quat(Eigen::AngleAxisd(0.3, Vec3(1, 2, -1).normalized())), Quat(Eigen::AngleAxisd(2.97, Vec3::UnitX())),
    Quat(Eigen::AngleAxisd(-2.97, Vec3::UnitX())), Quat(Eigen::AngleAxisd(1.2, Vec3(0, 1, 1).normalized()))};

struct Skin {
  std::shared_ptr<PoseSpaceModel> model = std::make_shared<PoseSpaceModel>();
  std::vector<Vec3> positions;  ///< of the sites' corners, turned

  Skin(int poses, BasisDirections directions) {
    model->directions = directions;
    model->stiffness = VecX::Ones(coordinates);
    add_poses(poses);
    add_sites();
    // Vertices of a block, its first column and how many there are.
    const std::array<Index, 3> blocks[] = {{1, 0, 5}, {7, 3, 1}, {8, 0, 13}, {3, 0, 0}, {9, 6, 7}, {17, 2, 10}};
    Index count = 0;
    for (const auto& [vertices, first, columns] : blocks) {
      add_block(vertices, first, columns, poses, static_cast<unsigned>(count));
      count += vertices;
    }
    add_vertices(29, count);
  }

  void add_poses(int poses) {
    if (poses == 1) return;
    PoseLayout layout;
    layout.add_scalar("bend", 0.0, "", 1.0);
    std::vector<std::vector<double>> examples;
    for (int i = 0; i < poses; ++i) examples.push_back({static_cast<double>(i)});
    model->poses = must(PoseSpaceWeights::create(layout, examples));
    for (int i = 0; i < poses; ++i)
      for (int j = 0; j <= i; ++j)
        model->mass.push_back(MatX::Identity(coordinates, coordinates) * (i == j ? 1.0 : between_poses));
  }
  void add_sites() {
    const Vec3 corners[] = {Vec3::Zero(), Vec3::UnitX(), Vec3::UnitY(), Vec3::UnitZ()};
    for (const Quat& turn : turns) {
      PosedTet& site = model->sites.emplace_back();
      for (std::size_t k = 0; k < 4; ++k) {
        site.points[k] = static_cast<Index>(positions.size());
        model->points.push_back(site.points[k]);
        positions.push_back(turn * corners[k] + Vec3(1, 2, 3));
      }
    }
  }
  void add_block(Index vertices, Index first, Index columns, int poses, unsigned seed) {
    VertexBlock& block = model->surface.blocks.emplace_back();
    for (Index c = 0; c < columns; ++c) block.columns.push_back(first + c);
    for (Index v = 0; v < vertices; ++v)
      block.frames.push_back({{1 + v % 2, 2 - v % 2, v % 4, 3}, {0.4, 0.3, 0.2, 0.1}});
    for (int i = 0; i < poses; ++i)
      block.basis.push_back(
          random_vector(3 * vertices * columns, 17 * seed + static_cast<unsigned>(i)).reshaped(3 * vertices, columns) *
          std::exp2(-3.7 * i));
  }
  void add_vertices(Index count, Index mesh_vertices) {
    for (Index v = 0; v < count; ++v) {
      auto& nodes = model->surface.vertex.emplace_back();
      auto& weights = model->surface.weight.emplace_back();
      for (Index k = 0; k < SoftSurface::nodes; ++k) {
        nodes[to_size(k)] = (7 * v + 11 * k) % mesh_vertices;
        weights[to_size(k)] = (1 + k) / 10.0;
      }
    }
  }

  Mat3 rotation(const FrameBlend& frame) const {
    if (model->directions == BasisDirections::world) return Mat3::Identity();
    Eigen::Vector4d sum = Eigen::Vector4d::Zero();
    const Eigen::Vector4d first = turns[to_size(frame.site[0])].coeffs();
    for (std::size_t k = 0; k < FrameBlend::most; ++k) {
      const Eigen::Vector4d q = turns[to_size(frame.site[k])].coeffs();
      sum += frame.weight[k] * (q.dot(first) < 0 ? -q : q);
    }
    return Quat(Eigen::Vector4d(sum.normalized())).toRotationMatrix();
  }
  VecX weights(double p) const {
    const Index poses = model->pose_count();
    VecX w = VecX::Ones(poses);
    std::vector<double> scratch(to_size(poses));
    if (poses > 1) model->poses->evaluate({&p, 1}, {w.data(), scratch.size()}, scratch);
    return w;
  }
  std::vector<Vec3> plainly(double p, const VecX& q, const Mat3& turn) const {
    const VecX w = weights(p);
    const double squares = w.squaredNorm(), mass = squares + between_poses * (w.sum() * w.sum() - squares);
    std::vector<Vec3> moved;
    for (const VertexBlock& block : model->surface.blocks) {
      VecX u = VecX::Zero(3 * block.vertex_count());
      for (std::size_t i = 0; i < block.basis.size(); ++i)
        for (std::size_t c = 0; c < block.columns.size(); ++c)
          u += block.basis[i].col(static_cast<Index>(c)) * w[static_cast<Index>(i)] * q[block.columns[c]] /
               std::sqrt(mass);
      for (Index v = 0; v < block.vertex_count(); ++v)
        moved.push_back(rotation(block.frames[to_size(v)]) * u.segment<3>(3 * v));
    }
    std::vector<Vec3> shown;
    for (std::size_t v = 0; v < model->surface.vertex.size(); ++v) {
      Vec3 sum = Vec3::Zero();
      for (std::size_t k = 0; k < SoftSurface::nodes; ++k)
        sum += model->surface.weight[v][k] * moved[to_size(model->surface.vertex[v][k])];
      shown.push_back(turn * sum);
    }
    return shown;
  }
};

template <class T>
struct Instance {
  std::shared_ptr<const PreparedModel<T>> prepared;
  PoseInterpolation<T> pose;
  FrameField<T> frames;
  SurfaceShape<T> surface;

  Instance(const Skin& skin, double p)
      : prepared(std::make_shared<const PreparedModel<T>>(skin.model)),
        pose(prepared),
        frames(skin.model->sites),
        surface(prepared) {
    pose.update({&p, 1});
    frames.update(skin.positions);
  }
  std::vector<T> padded(const VecX& q) const {
    std::vector<T> result(to_size(prepared->stride), T(0));
    std::transform(q.begin(), q.end(), result.begin(), [](double x) { return static_cast<T>(x); });
    return result;
  }
};

/// Some coordinates are not in use.
VecX some_coordinates() {
  VecX q = random_vector(coordinates, 5);
  q[0] = q[7] = 0;
  return q;
}

/// In poses between those that are known, at one of them, where the others don't count, and beyond them all.
constexpr double all_bends[] = {0.3, 1.0, 1.6, 3.4};

template <class T>
void shows_the_formula(int poses, BasisDirections directions, double tolerance) {
  const Skin skin(poses, directions);
  const Mat3 turn = Quat(Eigen::AngleAxisd(0.7, Vec3(3, -1, 2).normalized())).toRotationMatrix();
  for (const double p : all_bends) {
    Instance<T> instance(skin, p);
    for (const VecX& q : {some_coordinates(), VecX(VecX::Unit(coordinates, 4)), VecX(VecX::Zero(coordinates))}) {
      const auto expected = skin.plainly(p, q, turn);
      std::vector<Vec3> shown(expected.size(), Vec3::Constant(9));
      const auto padded = instance.padded(q);
      const long before = allocation_count();
      instance.surface.displacements(instance.pose.basis(), instance.frames, padded.data(), turn.cast<T>(), shown);
      EXPECT_EQ(allocation_count() - before, 0);
      double largest = 0;
      for (const Vec3& u : expected) largest = std::max(largest, u.norm());
      EXPECT_EQ(largest > 0, !q.isZero());
      for (std::size_t v = 0; v < shown.size(); ++v)
        EXPECT_LE((shown[v] - expected[v]).norm(), tolerance * largest) << v << " at " << p;
    }
  }
}

class EverySkin : public testing::TestWithParam<std::tuple<int, BasisDirections>> {};

TEST_P(EverySkin, ShowsTheFormulaInDoublePrecision) {
  shows_the_formula<double>(std::get<0>(GetParam()), std::get<1>(GetParam()), 1e-13);
}

/// Halves are off by 2⁻¹¹ at most, mostly by less, and in different directions.
TEST_P(EverySkin, ShowsTheFormulaInSinglePrecision) {
  shows_the_formula<float>(std::get<0>(GetParam()), std::get<1>(GetParam()), 5e-4);
}

/// A force f at a vertex is Uᵀ Aᵀ f for the coordinates: its work is that of the displacement that is shown.
template <class T>
void works(int poses, BasisDirections directions, double tolerance) {
  const Skin skin(poses, directions);
  const VecX q = some_coordinates();
  const Vec3 force(1, -2, 0.5);
  for (const double p : all_bends) {
    Instance<T> instance(skin, p);
    const auto shown = skin.plainly(p, q, Mat3::Identity());
    for (std::size_t v = 0; v < shown.size(); ++v) {
      std::vector<T> f = instance.padded(VecX::Zero(coordinates));
      const long before = allocation_count();
      instance.surface.add_force(instance.pose.basis(), instance.frames, static_cast<Index>(v), force, f.data());
      EXPECT_EQ(allocation_count() - before, 0);
      double work = 0;
      for (Index c = 0; c < coordinates; ++c) work += q[c] * static_cast<double>(f[to_size(c)]);
      EXPECT_NEAR(work, force.dot(shown[v]), tolerance * force.norm()) << v << " at " << p;
    }
  }
}

TEST_P(EverySkin, ForcesDoTheWorkOfWhatIsShown) {
  works<double>(std::get<0>(GetParam()), std::get<1>(GetParam()), 1e-13);
  works<float>(std::get<0>(GetParam()), std::get<1>(GetParam()), 1e-3);
}

INSTANTIATE_TEST_SUITE_P(SurfaceShape, EverySkin,
                         testing::Combine(testing::Values(1, 2, 4),
                                          testing::Values(BasisDirections::rotating, BasisDirections::world)));

TEST_P(EverySkin, IsTheSameInFloatsAndInDoubles) {
  const Skin skin(std::get<0>(GetParam()), std::get<1>(GetParam()));
  Instance<float> instance(skin, 0.3);
  const auto q = instance.padded(some_coordinates());
  for (const std::size_t count : {0, 1, 2, 3, 28, 29}) {
    std::vector<Vec3> doubles(count);
    std::vector<Eigen::Vector3f> floats(count + 1, Eigen::Vector3f::Constant(9));
    const Eigen::Matrix3f turn = Eigen::Matrix3f::Identity();
    instance.surface.displacements(instance.pose.basis(), instance.frames, q.data(), turn, doubles);
    instance.surface.displacements(instance.pose.basis(), instance.frames, q.data(), turn,
                                   std::span(floats).first(count));
    for (std::size_t v = 0; v < count; ++v) EXPECT_EQ(floats[v].cast<double>(), doubles[v]) << v << " of " << count;
    EXPECT_EQ(floats[count], Eigen::Vector3f::Constant(9));  // nothing is written beyond the end
  }
}

/// Weights and Υ are found in one way, with the matrices of a step or without.
TEST(SurfaceShape, FactorsNeedNoMatrices) {
  const Skin skin(4, BasisDirections::rotating);
  const auto prepared = std::make_shared<const PreparedModel<float>>(skin.model);
  PoseFactors<float> alone(prepared), taken(prepared);
  for (const double p : all_bends) {
    Instance<float> instance(skin, p);
    const VecX w = skin.weights(p);
    const double squares = w.squaredNorm(), mass = squares + between_poses * (w.sum() * w.sum() - squares);
    const long before = allocation_count();
    alone.update({&p, 1});
    taken.take(alone);
    EXPECT_EQ(allocation_count() - before, 0);
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t c = 0; c < to_size(coordinates); ++c) {
        EXPECT_EQ(alone.factors(i)[c], instance.pose.factors(i)[c]);
        EXPECT_EQ(taken.factors(i)[c], alone.factors(i)[c]);
        const double exact = w[static_cast<Index>(i)] / std::sqrt(mass);
        EXPECT_NEAR(static_cast<double>(alone.factors(i)[c]), exact, 1e-3);  // 0.4 as a half, and negligible weights
      }
    }
  }
}

TEST(SurfaceShape, FewerVerticesMayBeAskedFor) {
  const Skin skin(2, BasisDirections::rotating);
  Instance<float> instance(skin, 0.3);
  const auto q = instance.padded(some_coordinates());
  std::vector<Vec3> all(skin.model->surface.vertex.size()), few(5);
  for (auto* shown : {&all, &few})
    instance.surface.displacements(instance.pose.basis(), instance.frames, q.data(), Eigen::Matrix3f::Identity(),
                                   *shown);
  for (std::size_t v = 0; v < few.size(); ++v) EXPECT_EQ(few[v], all[v]);
}

}  // namespace
}  // namespace supple::surface_shape_test
