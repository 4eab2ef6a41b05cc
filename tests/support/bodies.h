// SPDX-License-Identifier: Apache-2.0
// Specimens for tests of the finite-element rooms: boxes of either element, evenly meshed or distorted, and the
// displacement fields that are put on them. Nothing here knows how the library computes anything.
#pragma once

#include "supple/fem/elastic_body.h"
#include "supple/mesh/box.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include <cmath>
#include <cstdio>
#include <random>
#include <stdexcept>
#include <string>
#include <tuple>

namespace supple {

enum class ElementKind { tet, brick };

inline constexpr MaterialModel all_models[] = {
    MaterialModel::linear,      MaterialModel::corotational,       MaterialModel::stvk,
    MaterialModel::neo_hookean, MaterialModel::stable_neo_hookean, MaterialModel::flesh};
inline constexpr ElementKind all_elements[] = {ElementKind::tet, ElementKind::brick};

/// Every material on both elements.
class EveryBody : public testing::TestWithParam<std::tuple<MaterialModel, ElementKind>> {
 protected:
  MaterialModel model() const { return std::get<0>(GetParam()); }
  ElementKind kind() const { return std::get<1>(GetParam()); }
};

inline std::string element_name(ElementKind kind) { return kind == ElementKind::tet ? "tet" : "brick"; }
inline std::string specimen_name(const testing::TestParamInfo<EveryBody::ParamType>& info) {
  return std::string(to_string(std::get<0>(info.param))) + "_" + element_name(std::get<1>(info.param));
}

#define SUPPLE_FOR_EVERY_BODY(suite) \
  INSTANTIATE_TEST_SUITE_P(          \
      All, suite, testing::Combine(testing::ValuesIn(all_models), testing::ValuesIn(all_elements)), specimen_name)

/// A measured number for docs/verification.md: printed, and kept in the test's XML record.
inline void measured(const std::string& what, double value) {
  std::printf("[ measured ] %s = %.4g\n", what.c_str(), value);
  testing::Test::RecordProperty(what, std::to_string(value));
}

// ---- meshes ---------------------------------------------------------------------------------------------------------

struct BoxSpec {
  Vec3 size = Vec3(1, 1, 1);
  std::array<int, 3> cells = {2, 2, 2};
  ElasticMaterial material = {.name = "specimen", .young = 1000, .poisson = 0.3, .density = 2};
  double distortion = 0.0;       ///< random moves of vertices, as a part of the cell size
  bool distort_surface = false;  ///< else only the vertices inside move
  bool heterogeneous = false;    ///< three materials in turn, from element to element
  unsigned seed = 1;
};

inline bool on_surface(const Vec3& x, const Vec3& size) {
  for (int axis = 0; axis < 3; ++axis) {
    if (x[axis] < 1e-9 * size[axis] || x[axis] > (1 - 1e-9) * size[axis]) return true;
  }
  return false;
}

template <class Mesh>
void apply_spec(Mesh& mesh, const BoxSpec& spec) {
  set_uniform_material(mesh, spec.material);
  if (spec.heterogeneous) {
    ElasticMaterial stiff = spec.material, soft = spec.material;
    stiff.young *= 7, stiff.poisson = 0.1, stiff.density *= 3;
    soft.young *= 0.3, soft.poisson = 0.45;
    mesh.materials = {spec.material, stiff, soft};
    for (std::size_t e = 0; e < mesh.elements.size(); ++e) mesh.element_material.push_back(static_cast<Index>(e % 3));
  }
  std::mt19937 generator(spec.seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (Vec3& x : mesh.vertices) {
    if (!spec.distort_surface && on_surface(x, spec.size)) continue;
    for (int axis = 0; axis < 3; ++axis)
      x[axis] += spec.distortion * uniform(generator) * spec.size[axis] / spec.cells[to_size(axis)];
  }
}

inline TetMesh tet_box(const BoxSpec& spec) {
  TetMesh mesh = make_tet_box(spec.size, spec.cells);
  apply_spec(mesh, spec);
  return mesh;
}
inline HexMesh brick_box(const BoxSpec& spec) {
  HexMesh mesh = make_hex_box(spec.size, spec.cells);
  apply_spec(mesh, spec);
  return mesh;
}

/// The value; a failure ends the test with its message.
template <class T>
T must(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.error().message);
  return *std::move(result);
}

template <class Mesh>
ElasticBody body_of(const Mesh& mesh, MaterialModel model) {
  return must(ElasticBody::create(mesh, model));
}
inline ElasticBody box_body(ElementKind kind, const BoxSpec& spec, MaterialModel model) {
  return kind == ElementKind::tet ? body_of(tet_box(spec), model) : body_of(brick_box(spec), model);
}

// ---- displacement fields --------------------------------------------------------------------------------------------

inline Vec3 rest_position(const ElasticBody& body, Index vertex) {
  return body.rest_positions().segment<3>(3 * vertex);
}

/// u_v = field(X_v)
template <class Field>
VecX displacement(const ElasticBody& body, const Field& field) {
  VecX u(body.dof_count());
  for (Index v = 0; v < body.vertex_count(); ++v) u.segment<3>(3 * v) = field(rest_position(body, v));
  return u;
}

/// u = (F − I) X + t
inline VecX homogeneous(const ElasticBody& body, const Mat3& F, const Vec3& t = Vec3::Zero()) {
  return displacement(body, [&](const Vec3& X) -> Vec3 { return F * X - X + t; });
}

template <class Keep>
std::vector<Index> vertices_where(const ElasticBody& body, const Keep& keep) {
  std::vector<Index> result;
  for (Index v = 0; v < body.vertex_count(); ++v) {
    if (keep(rest_position(body, v))) result.push_back(v);
  }
  return result;
}

inline std::vector<Index> left_face(const ElasticBody& body) {
  return vertices_where(body, [](const Vec3& X) { return X[0] < 1e-9; });
}

inline Mat3 some_rotation() { return Eigen::AngleAxisd(2.1, Vec3(1, -2, 0.5).normalized()).toRotationMatrix(); }

inline VecX random_vector(Eigen::Index size, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  return VecX::NullaryExpr(size, [&] { return uniform(generator); });
}

/// A rotation, stretches from 0.6 to 1.7, a shear, and noise on every vertex; no element turns inside out.
inline VecX large_deformation(const ElasticBody& body, unsigned seed, double noise = 0.06) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  Mat3 stretch =
      Vec3(0.6 + 0.4 * uniform(generator), 1.0 + 0.4 * uniform(generator), 1.2 + 0.5 * uniform(generator)).asDiagonal();
  stretch(0, 1) = 0.4 * uniform(generator);
  const Mat3 F = Eigen::AngleAxisd(3 * uniform(generator), Vec3(1, 2, -1).normalized()) * stretch;
  return homogeneous(body, F, Vec3(0.3, -1, 2)) + noise * random_vector(body.dof_count(), seed + 100);
}

// ---- small numerics -------------------------------------------------------------------------------------------------

/// The slope of log(error) over log(h) between two measurements.
inline double order_of(double coarse_error, double fine_error, double refinement = 2) {
  return std::log(coarse_error / fine_error) / std::log(refinement);
}

/// Fourth-order central difference of a scalar or vector function of one variable, at 0.
template <class Function>
auto derivative_at_zero(const Function& g, double h) {
  using Value = std::decay_t<decltype(g(h))>;
  return Value((8 * (g(h) - g(-h)) - (g(2 * h) - g(-2 * h))) / (12 * h));
}

inline BlockMatrix stiffness_at(const ElasticBody& body, const VecX& u,
                                HessianProjection projection = HessianProjection::none) {
  BlockMatrix K = body.make_matrix();
  VecX f;
  body.internal_force_and_stiffness(u, f, K, projection);
  return K;
}

inline VecX force_at(const ElasticBody& body, const VecX& u) {
  VecX f;
  body.internal_force(u, f);
  return f;
}

}  // namespace supple
