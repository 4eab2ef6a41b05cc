// SPDX-License-Identifier: Apache-2.0
// The element loops behind fem/assembly.h. Included by tet_assembly.cpp and brick_assembly.cpp only.
//
// With the shape gradients g_a = ∂N_a/∂X and the displacements u_a of an element's nodes, at a point of weight w:
//   F    = I + Σ_a u_a g_aᵀ
//   f_a += w P(F) g_a
//   K_ab(i,k) += w Σ_jl g_a(j) ∂P_ij/∂F_kl g_b(l)
#pragma once

#include "supple/base/parallel.h"
#include "supple/fem/assembly.h"
#include "supple/fem/material_models.h"

#include <cmath>
#include <limits>

namespace supple {
namespace detail {

template <int Nodes>
using NodeVectors = Eigen::Matrix<Lanes, 3, Nodes>;

template <int Nodes>
NodeVectors<Nodes> gather(const ElementBatch<Nodes>& batch, const VecX& x) {
  NodeVectors<Nodes> result;
  for (int a = 0; a < Nodes; ++a) {
    for (int lane = 0; lane < Lanes::width; ++lane) {
      const double* source = x.data() + 3 * static_cast<std::ptrdiff_t>(batch.vertex[a][lane]);
      for (int i = 0; i < 3; ++i) result(i, a).set(lane, source[i]);
    }
  }
  return result;
}

template <int Nodes>
void scatter(const ElementBatch<Nodes>& batch, const NodeVectors<Nodes>& values, VecX& x) {
  for (int lane = 0; lane < batch.count; ++lane) {
    for (int a = 0; a < Nodes; ++a) {
      double* target = x.data() + 3 * static_cast<std::ptrdiff_t>(batch.vertex[a][lane]);
      for (int i = 0; i < 3; ++i) target[i] += values(i, a)[lane];
    }
  }
}

/// Gives the displacement gradient Σ_a u_a g_aᵀ of each lane.
template <int Nodes>
Matrix3<Lanes> gradient_of(const ElementBatch<Nodes>& batch, std::size_t point, const NodeVectors<Nodes>& u) {
  Matrix3<Lanes> G;
  for (int j = 0; j < 3; ++j) {
    for (int i = 0; i < 3; ++i) {
      Lanes sum = u(i, 0) * batch.gradient[point](j, 0);
      for (int a = 1; a < Nodes; ++a) sum += u(i, a) * batch.gradient[point](j, a);
      G(i, j) = sum;
    }
  }
  return G;
}

template <int Nodes>
Matrix3<Lanes> deformation_gradient(const ElementBatch<Nodes>& batch, std::size_t point, const NodeVectors<Nodes>& u) {
  Matrix3<Lanes> F = gradient_of(batch, point, u);
  for (int i = 0; i < 3; ++i) F(i, i) += Lanes(1);
  return F;
}

/// Adds the force w P g_a of the stress P to each node a.
template <int Nodes>
void add_stress(const ElementBatch<Nodes>& batch, std::size_t point, const Matrix3<Lanes>& P, NodeVectors<Nodes>& f) {
  for (int a = 0; a < Nodes; ++a) {
    for (int i = 0; i < 3; ++i) {
      Lanes sum = P(i, 0) * batch.gradient[point](0, a);
      for (int j = 1; j < 3; ++j) sum += P(i, j) * batch.gradient[point](j, a);
      f(i, a) += batch.weight[point] * sum;
    }
  }
}

/// The nearest positive semi-definite matrix: negative eigenvalues become zero, lane by lane. Most elements need
/// nothing: a Cholesky factorisation that succeeds proves it.
void project_to_psd(Matrix9<Lanes>& J);

/// Element stiffness, lower block triangle: block (a, b), a ≥ b, column-major.
template <int Nodes>
struct ElementStiffness {
  Lanes block[Nodes][Nodes][9];
};

/// Adds the stiffness of a quadrature point to the blocks with a, b ≥ first.
template <int Nodes>
void add_stiffness(const ElementBatch<Nodes>& batch, std::size_t point, const Matrix9<Lanes>& J, int first,
                   ElementStiffness<Nodes>& K) {
  const auto& g = batch.gradient[point];
  for (int b = first; b < Nodes; ++b) {
    // T(3j+i, k) = w Σ_l J(3j+i, 3l+k) g_b(l)
    const Lanes weighted[3] = {batch.weight[point] * g(0, b), batch.weight[point] * g(1, b),
                               batch.weight[point] * g(2, b)};
    Lanes T[3][9];
    for (int k = 0; k < 3; ++k) {
      for (int row = 0; row < 9; ++row) {
        T[k][row] = J(row, k) * weighted[0] + J(row, 3 + k) * weighted[1] + J(row, 6 + k) * weighted[2];
      }
    }
    for (int a = b; a < Nodes; ++a) {
      for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < 3; ++i) {
          K.block[a][b][3 * k + i] += g(0, a) * T[k][i] + g(1, a) * T[k][3 + i] + g(2, a) * T[k][6 + i];
        }
      }
    }
  }
}

/// Tetrahedra: g_0 = −g_1 − g_2 − g_3, so the blocks of node 0 are sums of the others.
inline void complete_first_node(ElementStiffness<4>& K) {
  for (int k = 0; k < 3; ++k) {
    for (int i = 0; i < 3; ++i) {
      const int entry = 3 * k + i;
      const int mirror = 3 * i + k;
      const auto at = [&](int a, int b) { return a >= b ? K.block[a][b][entry] : K.block[b][a][mirror]; };
      for (int a = 1; a < 4; ++a) K.block[a][0][entry] = -(at(a, 1) + at(a, 2) + at(a, 3));
    }
  }
  for (int entry = 0; entry < 9; ++entry) {
    K.block[0][0][entry] = -(K.block[1][0][entry] + K.block[2][0][entry] + K.block[3][0][entry]);
  }
}

template <int Nodes>
void scatter(const ElementBatch<Nodes>& batch, const ElementStiffness<Nodes>& element, BlockMatrix& K) {
  for (int lane = 0; lane < batch.count; ++lane) {
    for (int a = 0; a < Nodes; ++a) {
      for (int b = 0; b < a; ++b) {
        double* below = K.block(batch.block[a * Nodes + b][lane]);
        double* above = K.block(batch.block[b * Nodes + a][lane]);
        for (int k = 0; k < 3; ++k) {
          for (int i = 0; i < 3; ++i) {
            const double value = element.block[a][b][3 * k + i][lane];
            below[3 * k + i] += value;
            above[3 * i + k] += value;
          }
        }
      }
      double* diagonal = K.block(batch.block[a * Nodes + a][lane]);
      for (int k = 0; k < 9; ++k) diagonal[k] += element.block[a][a][k][lane];
    }
  }
}

template <int Nodes, class Model>
void batch_stiffness(const ElementBatch<Nodes>& batch, const VecX& u, bool project, VecX& f, BlockMatrix& K) {
  constexpr int first = Nodes == 4 ? 1 : 0;
  const NodeVectors<Nodes> nodes = gather(batch, u);
  NodeVectors<Nodes> force = NodeVectors<Nodes>::Zero();
  ElementStiffness<Nodes> stiffness = {};
  Matrix9<Lanes> J;
  for (std::size_t point = 0; point < batch.gradient.size(); ++point) {
    const Model material(deformation_gradient(batch, point, nodes), batch.lame);
    add_stress(batch, point, material.stress(), force);
    material.jacobian(J);
    if (project) project_to_psd(J);
    add_stiffness(batch, point, J, first, stiffness);
  }
  if constexpr (Nodes == 4) complete_first_node(stiffness);
  scatter(batch, force, f);
  scatter(batch, stiffness, K);
}

/// Visits every batch, colour after colour; batches that run at the same time share no vertex.
template <int Nodes, class Visit>
void for_each_batch_coloured(const ElementBatches<Nodes>& elements, const Visit& visit) {
  for (const auto& clusters : elements.colours) {
    parallel_for(static_cast<std::int64_t>(clusters.size()), 1, [&](std::int64_t k) {
      const auto range = clusters[to_size(k)];
      for (Index batch = range.begin; batch < range.end; ++batch) visit(elements.batches[to_size(batch)]);
    });
  }
}

}  // namespace detail

template <int Nodes>
double Assembly<Nodes>::energy(const Batches& elements, MaterialModel model, const VecX& u) {
  constexpr std::int64_t grain = 256;
  const double total = with_material<Lanes>(model, [&]<class Model>(std::type_identity<Model>) {
    return parallel_sum(static_cast<std::int64_t>(elements.batches.size()), grain,
                        [&](std::int64_t begin, std::int64_t end) {
                          double sum = 0;
                          for (std::int64_t k = begin; k < end; ++k) {
                            const ElementBatch<Nodes>& batch = elements.batches[to_size(k)];
                            const auto nodes = detail::gather(batch, u);
                            Lanes density(0);
                            for (std::size_t point = 0; point < batch.gradient.size(); ++point) {
                              const Model material(detail::deformation_gradient(batch, point, nodes), batch.lame);
                              density += batch.weight[point] * material.energy();
                            }
                            for (int lane = 0; lane < batch.count; ++lane) sum += density[lane];
                          }
                          return sum;
                        });
  });
  return std::isnan(total) ? std::numeric_limits<double>::infinity() : total;
}

template <int Nodes>
void Assembly<Nodes>::force(const Batches& elements, MaterialModel model, const VecX& u, VecX& f) {
  f.setZero(u.size());
  with_material<Lanes>(model, [&]<class Model>(std::type_identity<Model>) {
    detail::for_each_batch_coloured(elements, [&](const ElementBatch<Nodes>& batch) {
      const auto nodes = detail::gather(batch, u);
      detail::NodeVectors<Nodes> force = detail::NodeVectors<Nodes>::Zero();
      for (std::size_t point = 0; point < batch.gradient.size(); ++point) {
        const Model material(detail::deformation_gradient(batch, point, nodes), batch.lame);
        detail::add_stress(batch, point, material.stress(), force);
      }
      detail::scatter(batch, force, f);
    });
  });
}

template <int Nodes>
void Assembly<Nodes>::force_and_stiffness(const Batches& elements, MaterialModel model, const VecX& u, bool project,
                                          VecX& f, BlockMatrix& K) {
  f.setZero(u.size());
  K.set_zero();
  with_material<Lanes>(model, [&]<class Model>(std::type_identity<Model>) {
    detail::for_each_batch_coloured(elements, [&](const ElementBatch<Nodes>& batch) {
      detail::batch_stiffness<Nodes, Model>(batch, u, project, f, K);
    });
  });
}

template <int Nodes>
void Assembly<Nodes>::hessian_product(const Batches& elements, MaterialModel model, const VecX& u, const VecX& a,
                                      const VecX& b, VecX& result) {
  result.setZero(u.size());
  with_material<Lanes>(model, [&]<class Model>(std::type_identity<Model>) {
    detail::for_each_batch_coloured(elements, [&](const ElementBatch<Nodes>& batch) {
      const auto nodes = detail::gather(batch, u);
      const auto nodes_a = detail::gather(batch, a);
      const auto nodes_b = detail::gather(batch, b);
      detail::NodeVectors<Nodes> force = detail::NodeVectors<Nodes>::Zero();
      for (std::size_t point = 0; point < batch.gradient.size(); ++point) {
        const Model material(detail::deformation_gradient(batch, point, nodes), batch.lame);
        const Matrix3<Lanes> second =
            material.second(detail::gradient_of(batch, point, nodes_a), detail::gradient_of(batch, point, nodes_b));
        detail::add_stress(batch, point, second, force);
      }
      detail::scatter(batch, force, result);
    });
  });
}

template <int Nodes>
double Assembly<Nodes>::smallest_volume_ratio(const Batches& elements, const VecX& u) {
  double smallest = std::numeric_limits<double>::infinity();
  for (const ElementBatch<Nodes>& batch : elements.batches) {
    const auto nodes = detail::gather(batch, u);
    for (std::size_t point = 0; point < batch.gradient.size(); ++point) {
      const Matrix3<Lanes> F = detail::deformation_gradient(batch, point, nodes);
      const Lanes J = F.col(0).dot(F.col(1).cross(F.col(2)));
      for (int lane = 0; lane < batch.count; ++lane) smallest = std::min(smallest, J[lane]);
    }
  }
  return smallest;
}

}  // namespace supple
