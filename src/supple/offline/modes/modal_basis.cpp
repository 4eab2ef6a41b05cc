// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/modes/modal_basis.h"

#include <fmt/format.h>

#include "supple/base/clock.h"
#include "supple/base/memory.h"
#include "supple/fem/rigid_motions.h"
#include "supple/offline/modes/mass_pca.h"
#include "supple/offline/modes/modal_derivatives.h"

namespace supple {
namespace {

/// Below this part of the largest derivative a derivative is rounding error, which must not be blown up to unit norm.
constexpr double smallest_derivative = 1e-9;

Status check_body(const ElasticBody& body, std::span<const Index> fixed, const ModalBasisSettings& settings,
                  Eigen::Index rigid) {
  const std::vector<Index> pieces = connected_pieces(body);
  const Index count = pieces.empty() ? 0 : *std::max_element(pieces.begin(), pieces.end()) + 1;
  if (count > 1) {
    return input_error(
        fmt::format("the mesh is in {} pieces that don't touch; join them, or build one body for each", count));
  }
  if (settings.require_anchored && fixed.empty()) {
    return input_error("no vertex of the mesh is fixed, but an anchored body was asked for; fix some vertices");
  }
  if (settings.require_anchored && rigid > 0) {
    return input_error(
        fmt::format("the fixed vertices leave the body {} ways to move rigidly, but an anchored body was asked for; "
                    "fix three or more "
                    "vertices that don't lie on a line",
                    rigid));
  }
  if (settings.size < 0) return input_error(fmt::format("a basis can't have {} vectors", settings.size));
  return {};
}

/// Compressing holds the derivatives three times, and a number for every two of them.
Status check_size(const ElasticBody& body, double k, bool anchored) {
  const double columns = k + (anchored ? k * (k + 1) / 2 : k * k);
  const double numbers = 3 * static_cast<double>(body.dof_count()) * columns + columns * columns;
  return check_memory(sizeof(double) * numbers,
                      fmt::format("{:.0f} modes with their {:.0f} derivatives", k, columns - k), "ask for fewer modes");
}

/// For the free case some modes more than asked for: they make the tangent derivatives' iteration short.
int modes_to_compute(const ModalBasisSettings& settings, Eigen::Index available, bool anchored) {
  const int k = settings.linear_modes;
  if (anchored || k < 1 || k > available) return k;  // compute_modes() has the sentence
  return static_cast<int>(std::min<Eigen::Index>(available, k + std::max(6, k)));
}

/// Eq. 16; `shapes` become the modes, then the derivatives.
struct WeightedSet {
  MatX shapes;
  VecX weights;
};

WeightedSet weighted_set(const ElasticBody& body, const Modes& modes, int k, ModalDerivatives derivatives) {
  MatX& Phi = derivatives.shapes;
  if (modes.rigid.cols() > 0) {
    const MatX M_rigid = multiply_columns(body.consistent_mass(), modes.rigid);
    Phi -= modes.rigid * (M_rigid.transpose() * Phi).eval();
  }
  const VecX norms = mass_norms(body.consistent_mass(), Phi);
  const double largest = norms.maxCoeff();
  const VecX& lambda = modes.eigenvalues;
  WeightedSet set{MatX(Phi.rows(), k + Phi.cols()), VecX::Zero(k + Phi.cols())};
  set.shapes.leftCols(k) = modes.shapes.leftCols(k);
  set.shapes.rightCols(Phi.cols()) = Phi;
  set.weights.head(k) = lambda[0] / lambda.head(k).array();
  for (Eigen::Index c = 0; c < Phi.cols(); ++c) {
    const auto [i, j] = derivatives.pairs[to_size(c)];
    if (norms[c] > smallest_derivative * largest) {
      set.weights[k + c] = lambda[0] / lambda[i] * (lambda[0] / lambda[j]) / norms[c];
    }
  }
  return set;
}

}  // namespace

Result<ModalBasis> build_modal_basis(const ElasticBody& body, std::span<const Index> fixed,
                                     const ModalBasisSettings& settings, Progress& progress) {
  Result<FreeVertices> free = FreeVertices::create(body, fixed);
  SUPPLE_RETURN_IF_ERROR(free);
  const Eigen::Index rigid = rigid_motions(body, *free).cols();
  SUPPLE_RETURN_IF_ERROR(check_body(body, fixed, settings, rigid));
  const int k = settings.linear_modes;
  ModalBasis result;
  result.anchored = rigid == 0;
  SUPPLE_RETURN_IF_ERROR(check_size(body, k, result.anchored));

  auto start = Clock::now();
  const int count = modes_to_compute(settings, 3 * free->count() - rigid, result.anchored);
  const Result<Modes> modes = compute_modes(body, fixed, {.count = count}, progress);
  SUPPLE_RETURN_IF_ERROR(modes);
  result.modes_seconds = seconds_since(start);
  result.frequencies = modes->frequencies.head(k);

  Result<ModalDerivatives> derivatives = result.anchored ? static_derivatives(body, fixed, *modes, k, progress)
                                                         : tangent_derivatives(body, fixed, *modes, k, progress);
  SUPPLE_RETURN_IF_ERROR(derivatives);
  result.largest_residual = derivatives->largest_residual;
  result.iterations = derivatives->iterations;
  result.right_hand_side_seconds = derivatives->right_hand_side_seconds;
  result.solve_seconds = derivatives->solve_seconds;

  start = Clock::now();
  progress.stage("compressing the basis");
  WeightedSet set = weighted_set(body, *modes, k, *std::move(derivatives));
  Result<MassPca> pca = mass_pca(body.consistent_mass(), std::move(set.shapes), set.weights);
  SUPPLE_RETURN_IF_ERROR(pca);
  const auto available = static_cast<int>(pca->basis.cols());
  if (settings.size > available) {
    return input_error(
        fmt::format("a basis of {} vectors was asked for, but {} linear modes and their derivatives give only {} "
                    "independent ones; ask for fewer, or for more linear modes",
                    settings.size, k, available));
  }
  result.suggested_size = suggest_size(pca->singular_values);
  result.basis = pca->basis.leftCols(settings.size > 0 ? settings.size : result.suggested_size);
  result.singular_values = pca->singular_values;
  result.pca_seconds = seconds_since(start);
  return result;
}

}  // namespace supple
