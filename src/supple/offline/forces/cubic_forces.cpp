// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/forces/cubic_forces.h"

#include "supple/base/assert.h"
#include "supple/base/memory.h"
#include "supple/base/parallel.h"
#include "supple/fem/element.h"
#include "supple/mesh/topology.h"

#include <fmt/format.h>

#include <mutex>

namespace supple {
namespace {

/// Strains as six numbers whose dot product is A:B (the off-diagonal ones scaled by √2).
using Strain = Eigen::Matrix<double, 6, 1>;

Strain to_strain(const Mat3& A) {
  const double s = std::sqrt(0.5);
  return {A(0, 0), A(1, 1), A(2, 2), s * (A(1, 2) + A(2, 1)), s * (A(0, 2) + A(2, 0)), s * (A(0, 1) + A(1, 0))};
}

/// Gram matrices over the points of one group. Columns: e_0 … e_{r-1}, then E_p in pair order.
struct Gram {
  MatX shear;   ///< Σ w A:B
  MatX volume;  ///< Σ w tr A tr B

  explicit Gram(Eigen::Index columns) : shear(MatX::Zero(columns, columns)), volume(MatX::Zero(columns, columns)) {}
  void add(const Gram& other) {
    shear += other.shear;
    volume += other.volume;
  }
};

constexpr int points_per_block = 96;

/// Strains of a block of points, √w inside, collected until they are worth a matrix product.
class GramBuilder {
 public:
  GramBuilder(Index r, Gram& gram)
      : r_(r),
        gram_(gram),
        shear_rows_(6 * points_per_block, gram.shear.cols()),
        volume_rows_(points_per_block, gram.shear.cols()) {}

  /// G: 3×3 gradients of all basis vectors, 3 × 3r; w: the weight of the point.
  void add_point(const Eigen::Matrix3Xd& G, double w) {
    const double scale = std::sqrt(w);
    for (Index b = 0; b < r_; ++b) {
      const Mat3 Gb = G.middleCols<3>(3 * b);
      put(b, to_strain(Gb) * scale);
      for (Index a = 0; a <= b; ++a)
        put(r_ + pair_index(a, b), to_strain(Gb.transpose() * G.middleCols<3>(3 * a)) * scale);
    }
    if (++points_ == points_per_block) flush();
  }
  void flush() {
    if (points_ == 0) return;
    gram_.shear.selfadjointView<Eigen::Lower>().rankUpdate(shear_rows_.topRows(6 * points_).transpose());
    gram_.volume.selfadjointView<Eigen::Lower>().rankUpdate(volume_rows_.topRows(points_).transpose());
    points_ = 0;
  }

 private:
  void put(Eigen::Index column, const Strain& strain) {
    shear_rows_.col(column).segment<6>(6 * points_) = strain;
    volume_rows_(points_, column) = strain.head<3>().sum();
  }
  Index r_;
  Gram& gram_;
  Eigen::Index points_ = 0;
  MatX shear_rows_;
  MatX volume_rows_;
};

/// The polynomial of the inner product <A,B> = factor · gram(A,B); `gram` has its lower triangle filled.
StiffnessPolynomial polynomial_from(const MatX& gram, double factor, Index r) {
  const auto at = [&](Eigen::Index i, Eigen::Index j) { return factor * (i >= j ? gram(i, j) : gram(j, i)); };
  const auto E = [&](Index a, Index b) { return r + pair_index(a, b); };
  StiffnessPolynomial result = StiffnessPolynomial::zero(r);
  parallel_for(r, 1, [&](std::int64_t outer) {
    const auto b = static_cast<Index>(outer);
    for (Index a = 0; a <= b; ++a) {
      const Index p = pair_index(a, b);
      result.constant[p] = at(a, b);
      for (Index i = 0; i < r; ++i) {
        result.linear(p, i) = at(a, E(b, i)) + at(b, E(a, i)) + at(i, E(a, b));
        for (Index j = i; j < r; ++j) {
          result.quadratic(p, pair_index(i, j)) =
              0.5 * (at(E(a, b), E(i, j)) + at(E(a, i), E(b, j)) + at(E(a, j), E(b, i)));
        }
      }
    }
  });
  return result;
}

template <int Nodes>
std::vector<std::vector<Index>> elements_by_material(const VolumeMesh<Nodes>& mesh) {
  std::vector<std::vector<Index>> groups(std::max<std::size_t>(1, mesh.materials.size()));
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    const std::size_t material = mesh.element_material.empty() ? 0 : to_size(mesh.element_material[e]);
    groups[material].push_back(static_cast<Index>(e));
  }
  return groups;
}

/// Σ_a U_a ⊗ g_a for every basis vector: 3 × 3r.
template <int Nodes>
void basis_gradients(const VolumeMesh<Nodes>& mesh, std::size_t element, const MatX& basis,
                     const Eigen::Matrix<double, 3, Nodes>& g, Eigen::Matrix3Xd& G) {
  G.setZero();
  for (int a = 0; a < Nodes; ++a) {
    const Index v = mesh.elements[element][to_size(a)];
    for (Eigen::Index i = 0; i < basis.cols(); ++i) {
      G.middleCols<3>(3 * i) += basis.col(i).segment<3>(3 * v) * g.col(a).transpose();
    }
  }
}

template <int Nodes>
Gram gram_of(const VolumeMesh<Nodes>& mesh, const std::vector<Index>& elements, const MatX& basis, Progress& progress) {
  const auto r = static_cast<Index>(basis.cols());
  const Eigen::Index columns = r + pair_count(r);
  Gram total(columns);
  // Few large chunks: each holds its own Gram matrices. Their number depends on the mesh only, and they are added in
  // order, so that the result has the same bits for any thread count.
  const auto count = static_cast<std::int64_t>(elements.size());
  const std::int64_t grain = std::max<std::int64_t>(256, (count + 7) / 8);
  std::vector<std::optional<Gram>> partial(to_size((count + grain - 1) / grain));
  std::mutex progress_lock;
  std::size_t done = 0;
  parallel_ranges(count, grain, [&](std::int64_t begin, std::int64_t end) {
    Gram gram(columns);
    GramBuilder builder(r, gram);
    Eigen::Matrix3Xd G(3, 3 * r);
    for (std::int64_t k = begin; k < end; ++k) {
      const auto element = to_size(elements[to_size(k)]);
      const ElementShape<Nodes> shape = element_shape(element_nodes(mesh, element));
      for (std::size_t point = 0; point < shape.gradient.size(); ++point) {
        basis_gradients<Nodes>(mesh, element, basis, shape.gradient[point], G);
        builder.add_point(G, shape.weight[point]);
      }
    }
    builder.flush();
    partial[to_size(begin / grain)] = std::move(gram);
    const std::lock_guard lock(progress_lock);
    progress.update(static_cast<double>(++done) / static_cast<double>(partial.size()));
  });
  for (const auto& part : partial) total.add(*part);
  return total;
}

/// Integrals of the rest positions and the basis vectors over the given elements.
template <int Nodes>
MassMoments unit_moments(const VolumeMesh<Nodes>& mesh, const std::vector<Index>& elements, const MatX& basis) {
  const auto fields = basis.cols() + 1;
  const auto vertices = static_cast<Eigen::Index>(mesh.vertices.size());
  // Column v holds all fields at vertex v.
  MatX values(3 * fields, vertices);
  for (Eigen::Index v = 0; v < vertices; ++v) {
    values.col(v).head<3>() = mesh.vertices[to_size(v)];
    for (Eigen::Index a = 1; a < fields; ++a) values.col(v).segment<3>(3 * a) = basis.col(a - 1).segment<3>(3 * v);
  }
  MatX weighted = MatX::Zero(3 * fields, vertices);
  MassMoments moments;
  for (const Index element : elements) {
    const auto& nodes = mesh.elements[to_size(element)];
    const auto products = shape_products(element_nodes(mesh, to_size(element)));
    moments.volume += products.sum();
    for (int a = 0; a < Nodes; ++a)
      for (int b = 0; b < Nodes; ++b) weighted.col(nodes[to_size(a)]) += products(a, b) * values.col(nodes[to_size(b)]);
  }
  moments.first = weighted.rowwise().sum().reshaped(3, fields);
  moments.second.noalias() = values * weighted.transpose();
  return moments;
}

/// The mesh, and its own boundary as what is looked at.
template <int Nodes>
void copy_mesh(const VolumeMesh<Nodes>& mesh, SubspaceModel& model) {
  model.rest_positions = mesh.vertices;
  model.nodes_per_element = Nodes;
  for (const auto& element : mesh.elements) model.elements.insert(model.elements.end(), element.begin(), element.end());
  model.element_group.resize(mesh.elements.size());
  BoundarySurface boundary = boundary_surface(mesh);
  model.surface.rest_positions = std::move(boundary.surface.vertices);
  model.surface.triangles = std::move(boundary.surface.triangles);
  model.surface.basis.resize(3 * model.surface.vertex_count(), model.basis.cols());
  for (Index v = 0; v < model.surface.vertex_count(); ++v)
    model.surface.basis.middleRows<3>(3 * v) = model.basis.middleRows<3>(3 * boundary.volume_vertex[to_size(v)]);
}

template <int Nodes>
Status check_elements(const VolumeMesh<Nodes>& mesh) {
  if (mesh.elements.empty()) return input_error("the mesh has no elements, so there are no forces to compute");
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    for (const double weight : element_shape(element_nodes(mesh, e)).weight) {
      if (!(weight > 0)) return input_error(fmt::format("element {} is inverted or has no volume; repair the mesh", e));
    }
  }
  return {};
}

/// Products of all strains, and the polynomials made of them: both of fourth order in r.
Status check_model_size(double r) {
  const double strains = r + r * (r + 1) / 2;
  return check_memory(4 * sizeof(double) * strains * strains, fmt::format("the forces of a basis of {:.0f} vectors", r),
                      "ask for a smaller basis");
}

template <int Nodes>
Status check_basis(const VolumeMesh<Nodes>& mesh, const MatX& basis) {
  if (basis.rows() != 3 * static_cast<Eigen::Index>(mesh.vertices.size()) || basis.cols() < 1) {
    return input_error(
        fmt::format("the basis has {} rows and {} columns, but the mesh needs {} rows and at least one column",
                    basis.rows(), basis.cols(), 3 * mesh.vertices.size()));
  }
  if (!basis.allFinite()) return input_error("the basis contains numbers that are not finite");
  return {};
}

template <int Nodes>
Result<SubspaceModel> build(const VolumeMesh<Nodes>& mesh, const MatX& basis, Progress& progress) {
  SUPPLE_RETURN_IF_ERROR(check_elements(mesh));
  SUPPLE_RETURN_IF_ERROR(check_basis(mesh, basis));
  SUPPLE_RETURN_IF_ERROR(check_model_size(static_cast<double>(basis.cols())));
  const auto r = static_cast<Index>(basis.cols());
  SubspaceModel model;
  model.basis = basis;
  copy_mesh(mesh, model);
  progress.stage("computing force coefficients");
  const auto groups = elements_by_material(mesh);
  for (std::size_t material = 0; material < groups.size(); ++material) {
    if (groups[material].empty()) continue;
    for (const Index e : groups[material]) model.element_group[to_size(e)] = static_cast<Index>(model.groups.size());
    const Gram gram = gram_of(mesh, groups[material], basis, progress);
    model.groups.push_back({mesh.materials.empty() ? default_material() : mesh.materials[material],
                            polynomial_from(gram.volume, 1.0, r), polynomial_from(gram.shear, 2.0, r),
                            unit_moments(mesh, groups[material], basis)});
  }
  return model;
}

template <int Nodes>
Result<SubspaceModel> rigid(const VolumeMesh<Nodes>& mesh) {
  SUPPLE_RETURN_IF_ERROR(check_elements(mesh));
  SubspaceModel model;
  model.basis.resize(3 * static_cast<Eigen::Index>(mesh.vertices.size()), 0);
  copy_mesh(mesh, model);
  const auto groups = elements_by_material(mesh);
  for (std::size_t material = 0; material < groups.size(); ++material) {
    if (groups[material].empty()) continue;
    for (const Index e : groups[material]) model.element_group[to_size(e)] = static_cast<Index>(model.groups.size());
    model.groups.push_back({mesh.materials.empty() ? default_material() : mesh.materials[material],
                            StiffnessPolynomial::zero(0), StiffnessPolynomial::zero(0),
                            unit_moments(mesh, groups[material], model.basis)});
  }
  return model;
}

}  // namespace

Result<SubspaceModel> build_rigid_model(const TetMesh& mesh) { return rigid(mesh); }
Result<SubspaceModel> build_rigid_model(const HexMesh& mesh) { return rigid(mesh); }

Result<SubspaceModel> build_subspace_model(const TetMesh& mesh, const MatX& basis, Progress& progress) {
  return build(mesh, basis, progress);
}
Result<SubspaceModel> build_subspace_model(const HexMesh& mesh, const MatX& basis, Progress& progress) {
  return build(mesh, basis, progress);
}

void embed_surface(SubspaceModel& model, const Surface& surface, const Embedding& embedding) {
  SUPPLE_ASSERT(embedding.size() == surface.vertices.size() && embedding.mesh_vertices == model.vertex_count());
  model.surface = {surface.vertices, surface.triangles, embedding.interpolate(model.basis)};
}

}  // namespace supple
