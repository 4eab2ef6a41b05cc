// SPDX-License-Identifier: Apache-2.0
// Cubature: a sum over all elements (or vertices) replaced by a weighted sum over few of them (2016 paper, 5.3
// and 5.4).
//
// Site e contributes D_eᵀ s_e to a reduced force: D_e is d × r (the basis seen from the site), s_e the site's own
// d numbers (stress times volume: d = 9; mass times acceleration: d = 3). For samples k = 1 … T with total b_k:
//   Σ_e w_e D_eᵀ s_ek ≈ b_k,  w ≥ 0,  few w_e ≠ 0          each sample divided by |f_k| (Eq. 18, 25)
// f_k is the force that is wanted. Where part of it is known without cubature, b_k is the rest of it only; errors stay
// relative to the whole.
// Sites are chosen by hard thresholding pursuit (Foucart 2011; von Tycowicz et al. 2013): step along the gradient, keep
// the largest entries, solve for their weights by non-negative least squares, repeat until the choice stays.
//
// The matrix of all columns has T r rows for every site. It is never formed: a product with its transpose is
// Σ_k (D_e ρ_k)·s_ek, one small matrix product per site.
#pragma once

#include "supple/base/progress.h"
#include "supple/base/types.h"

#include <Eigen/Core>

#include <functional>
#include <span>
#include <vector>

namespace supple {

/// What each site contributes to each sample. It is kept in single precision; weights are then solved for in double
/// precision, from few columns.
struct CubatureSamples {
  using Matrix = Eigen::MatrixXf;

  int site_size = 0;                 ///< d
  std::vector<Matrix> bases;         ///< for each pose r × (d sites): columns d e … d e + d − 1 are D_eᵀ
  std::vector<Eigen::Index> counts;  ///< samples of each pose, one after the other
  Matrix values;                     ///< T × (d sites): s_ek, already divided by |f_k|
  MatX totals;                       ///< r × T: b_k / |f_k|
  MatX coordinates;                  ///< r × T: q_k / |f_k| of elastic samples …
  VecX lengths;                      ///< … and |f_k|, where samples are of one pose
  double length = 1;                 ///< √Σ_k |f_k|² of what is left after that division: √T

  Eigen::Index sites() const { return bases.front().cols() / site_size; }
  Eigen::Index size() const { return bases.front().rows(); }
  Eigen::Index samples() const { return totals.cols(); }
};

/// Samples of several poses as one set; the same sites, each with its own basis.
CubatureSamples joined(std::vector<CubatureSamples> poses);

struct Cubature {
  std::vector<Index> sites;  ///< ascending
  VecX weights;              ///< beside them, positive
  double training_error = 0.0;
};

struct CubatureSettings {
  int most_sites = 0;       ///< 0: as many as the tolerance needs
  double tolerance = 0.02;  ///< relative error on the training samples at which no more sites are added
  int max_iterations = 4;   ///< of pursuit, for each number of sites
};

/// √(Σ_k |Σ_e w_e D_eᵀ s_ek − b_k|² / Σ_k |f_k|²)
double cubature_error(const CubatureSamples& samples, const Cubature& cubature);

/// Σ_e w_e D_eᵀ s_ek − b_k, one column per sample.
MatX cubature_residual(const CubatureSamples& samples, const Cubature& cubature);

/// The weights that fit the samples best on given sites (2016 paper, Eq. 19); some may be zero.
Cubature fit_weights(const CubatureSamples& samples, std::span<const Index> sites);

/// Likewise weights of several poses that are blended between them: the samples of a row of `shares` see Σ_i share_i
/// w_i (all on the same sites). Starts with each pose for itself, then lets each fit what the others leave.
std::vector<Cubature> fit_blended_weights(std::span<const CubatureSamples> samples, const MatX& shares,
                                          std::span<const Index> sites);

/// The samples of one pose of several joined, seen from some of the sites only.
CubatureSamples of_pose(const CubatureSamples& joined, std::size_t pose, std::span<const Index> sites);

/// Sites are added until the tolerance is met on `samples`; `unknown` ones, not trained with, may be a quarter worse.
Cubature select_cubature(const CubatureSamples& samples, const CubatureSettings& settings = {},
                         Progress& progress = Progress::silent(), const CubatureSamples* unknown = nullptr);
/// Sites are added until they are good enough.
Cubature select_cubature(const CubatureSamples& samples, const CubatureSettings& settings, Progress& progress,
                         const std::function<bool(const Cubature&)>& good_enough);

}  // namespace supple
