// SPDX-License-Identifier: Apache-2.0
// The rest shape of a body for a pose of its skin (2016 paper, Eq. 3): the mesh that follows the posed skin and is
// strained as little as that allows,
//
//   Φ(p) = argmin_x  Σ_v a_v |(A x)_v − Φ̄_v(p)|² / L²  +  γ E(x) / V
//
// A: embedding of the skin; a_v: share of the skin's area; L: the body's diagonal; V: its volume; E: strain energy of
// stable neo-Hookean material with Young's modulus 1 relative to the neutral shape. Both terms are pure numbers, so
// that one γ serves bodies of any size. Newton's method with projected element Hessians and a line search, γ coming
// down in steps, from any first guess: the energy stays finite for inverted elements. Elements that end up inverted,
// where the skin folds, are repaired by loosening the skin's hold around them.
#pragma once

#include "supple/base/result.h"
#include "supple/fem/elastic_body.h"
#include "supple/mesh/embedding.h"
#include "supple/mesh/surface.h"

namespace supple {

struct FitSettings {
  double stiffness = 1e-4;         ///< γ
  int max_iterations = 60;         ///< per value of γ
  double tolerance = 1e-4;         ///< on the Newton step, as a share of the diagonal
  double min_volume_ratio = 0.02;  ///< elements below this share of their neutral volume are repaired
};

struct FitReport {
  int iterations = 0;
  bool converged = false;
  double mean_error = 0;  ///< |A x − Φ̄|, weighted by area, as a share of the diagonal
  double largest_error = 0;
  int inverted_before = 0;  ///< elements in the first guess
  int repaired = 0;         ///< elements that made a second fit necessary
  int inverted = 0;         ///< elements at the end
  double smallest_volume_ratio = 0;
};

struct FittedShape {
  std::vector<Vec3> positions;
  FitReport report;
};

/// Fits the rest shapes of one mesh and skin in many poses.
class RestShapeFitter {
 public:
  /// Fails when the mesh is broken or doesn't fit the embedding.
  static Result<RestShapeFitter> create(const TetMesh& mesh, const Surface& skin, const Embedding& embedding,
                                        const FitSettings& settings = {});
  ~RestShapeFitter();
  RestShapeFitter(RestShapeFitter&&) noexcept;
  RestShapeFitter& operator=(RestShapeFitter&&) noexcept;

  /// `posed`: the skin in the pose; `guess`: where the mesh roughly is.
  FittedShape fit(std::span<const Vec3> posed, std::span<const Vec3> guess);

 private:
  struct Impl;
  explicit RestShapeFitter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace supple
