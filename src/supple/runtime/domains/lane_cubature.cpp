// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/domains/lane_cubature.h"

#include "supple/fem/material_models.h"
#include "supple/runtime/domains/lane_solvers.h"

namespace supple::domains {
namespace {

using Gradient = Eigen::Matrix<Pack4, 3, 3>;

/// F = 1 + D q.
Gradient gradient_at(const double* D, int r, const Pack4* q) {
  Gradient F;
  for (int k = 0; k < 9; ++k) F.data()[k] = Pack4(k % 4 == 0 ? 1.0 : 0.0);
  for (int l = 0; l < r; ++l, D += 9)
    for (int k = 0; k < 9; ++k) F.data()[k] += Pack4(D[k]) * q[l];
  return F;
}

}  // namespace

LaneCubature::LaneCubature(const PartCubature& cubature)
    : material_(cubature.material), r_(static_cast<int>(cubature.gradients.cols())) {
  for (Eigen::Index s = 0; s < cubature.weight.size(); ++s) {
    weight_.push_back(cubature.weight[s]);
    mu_.push_back(cubature.lame(0, s));
    lambda_.push_back(cubature.lame(1, s));
    const MatX D = cubature.gradients.middleRows<9>(9 * s);
    gradients_.insert(gradients_.end(), D.data(), D.data() + D.size());
  }
  for (int b = 0; b < r_; ++b)
    for (int a = 0; a <= b; ++a) correction_.push_back(cubature.correction(a, b));
}

void LaneCubature::evaluate(const Pack4* q, Pack4* stiffness, Pack4* force) const {
  for (std::size_t p = 0; p < correction_.size(); ++p) stiffness[p] = Pack4(correction_[p]);
  multiply_pairs(stiffness, r_, q, force);
  with_material<Pack4>(material_, [&]<class Model>(std::type_identity<Model>) {
    const double* D = gradients_.data();
    for (std::size_t s = 0; s < weight_.size(); ++s, D += 9 * r_) {
      const Model model(gradient_at(D, r_, q), {Pack4(mu_[s]), Pack4(lambda_[s])});
      const Gradient P = model.stress();
      Matrix9<Pack4> J;
      model.jacobian(J);
      const Pack4 w(weight_[s]);
      Pack4* pair = stiffness;
      for (int b = 0; b < r_; ++b) {
        Pack4 Y[9], along(0.0);
        for (int k = 0; k < 9; ++k) {
          Y[k] = Pack4(0.0);
          along += Pack4(D[9 * b + k]) * P.data()[k];
        }
        for (int c = 0; c < 9; ++c)
          for (int k = 0; k < 9; ++k) Y[k] += Pack4(D[9 * b + c]) * J(k, c);
        force[b] += w * along;
        for (int a = 0; a <= b; ++a) {
          Pack4 sum(0.0);
          for (int k = 0; k < 9; ++k) sum += Pack4(D[9 * a + k]) * Y[k];
          *pair++ += w * sum;
        }
      }
    }
  });
}

Pack4 LaneCubature::energy(const Pack4* q) const {
  Pack4 sum(0.0);
  std::size_t p = 0;
  for (int b = 0; b < r_; ++b)
    for (int a = 0; a <= b; ++a, ++p) sum += Pack4((a == b ? 0.5 : 1.0) * correction_[p]) * q[a] * q[b];
  with_material<Pack4>(material_, [&]<class Model>(std::type_identity<Model>) {
    const double* D = gradients_.data();
    for (std::size_t s = 0; s < weight_.size(); ++s, D += 9 * r_)
      sum += Pack4(weight_[s]) * Model(gradient_at(D, r_, q), {Pack4(mu_[s]), Pack4(lambda_[s])}).energy();
  });
  return sum;
}

}  // namespace supple::domains
