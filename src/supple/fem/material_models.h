// SPDX-License-Identifier: Apache-2.0
// Elastic energies as functions of the deformation gradient F, closed form, for any scalar (float, double, packs).
//
// A model is constructed at one F and then answers:
//   energy()       Ψ(F)                          energy density [J/m³], zero at F = I
//   stress()       P = ∂Ψ/∂F                     first Piola-Kirchhoff stress [Pa]
//   jacobian()     ∂P/∂F                         9×9, vec() runs down the columns: row 3j+i belongs to F_ij
//   change(A)      ∂P/∂F : A                     the same without the 81 numbers
//   second(A, B)   ∂²P/∂F² : A : B               the third derivative of Ψ, contracted with two directions
// At F = I every model has the same Jacobian, that of linear elasticity: E and ν mean the same in all of them.
#pragma once

#include "supple/fem/material.h"
#include "supple/math/dense/svd3.h"

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <Eigen/LU>

#include <cmath>
#include <type_traits>

namespace supple {

template <class T>
using Matrix3 = Eigen::Matrix<T, 3, 3>;
template <class T>
using Matrix9 = Eigen::Matrix<T, 9, 9>;

namespace detail {

/// A : B = Σ A_ij B_ij.
template <class T>
T contract(const Matrix3<T>& A, const Matrix3<T>& B) {
  T sum = A(0, 0) * B(0, 0);
  for (int k = 1; k < 9; ++k) sum += A.data()[k] * B.data()[k];
  return sum;
}

/// J += c · vec(A) vec(B)ᵀ.
template <class T>
void add_outer(Matrix9<T>& J, T c, const Matrix3<T>& A, const Matrix3<T>& B) {
  for (int col = 0; col < 9; ++col) {
    const T scaled = c * B.data()[col];
    for (int row = 0; row < 9; ++row) J(row, col) += scaled * A.data()[row];
  }
}

/// J += c · ∂F/∂F.
template <class T>
void add_identity(Matrix9<T>& J, T c) {
  for (int k = 0; k < 9; ++k) J(k, k) += c;
}

/// The cofactor matrix ∂(det F)/∂F: columns f1 × f2, f2 × f0, f0 × f1.
template <class T>
Matrix3<T> cofactor(const Matrix3<T>& F) {
  Matrix3<T> result;
  for (int j = 0; j < 3; ++j) result.col(j) = F.col((j + 1) % 3).cross(F.col((j + 2) % 3));
  return result;
}

/// ∂cof(F)/∂F : B, bilinear and symmetric in F and B; therefore also the second derivative of cof.
template <class T>
Matrix3<T> cofactor_derivative(const Matrix3<T>& F, const Matrix3<T>& B) {
  Matrix3<T> result;
  for (int j = 0; j < 3; ++j) {
    const int k = (j + 1) % 3;
    const int l = (j + 2) % 3;
    result.col(j) = F.col(k).cross(B.col(l)) + B.col(k).cross(F.col(l));
  }
  return result;
}

/// J += c · ∂cof(F)/∂F: blocks ±[f_k]×, since ∂(f_k × f_l)/∂f_l = [f_k]×.
template <class T>
void add_cofactor_jacobian(Matrix9<T>& J, T c, const Matrix3<T>& F) {
  for (int j = 0; j < 3; ++j) {
    const int k = (j + 1) % 3;
    const int l = (j + 2) % 3;
    const Eigen::Matrix<T, 3, 1> f = F.col(k) * c;
    // Block (row j, column l) gets +[f_k]×, its mirror (row l, column j) the transpose.
    const auto add = [&](int i, int m, T value) {
      J(3 * j + i, 3 * l + m) += value;
      J(3 * l + m, 3 * j + i) += value;
    };
    add(0, 1, -f[2]), add(0, 2, f[1]), add(1, 0, f[2]), add(1, 2, -f[0]), add(2, 0, -f[1]), add(2, 1, f[0]);
  }
}

template <class T>
Matrix3<T> symmetric_part(const Matrix3<T>& A) {
  return (A + A.transpose()) * T(0.5);
}

}  // namespace detail

/// Linear elasticity: ε = sym(F) − I, Ψ = μ ε:ε + λ/2 tr²ε.
template <class T>
class LinearModel {
 public:
  LinearModel(const Matrix3<T>& F, const Lame<T>& lame)
      : lame_(lame), strain_(detail::symmetric_part<T>(F) - Matrix3<T>::Identity()) {}

  T energy() const {
    const T trace = strain_.trace();
    return lame_.mu * detail::contract(strain_, strain_) + T(0.5) * lame_.lambda * trace * trace;
  }
  Matrix3<T> stress() const {
    return strain_ * (T(2) * lame_.mu) + Matrix3<T>::Identity() * (lame_.lambda * strain_.trace());
  }
  void jacobian(Matrix9<T>& J) const {
    J.setZero();
    detail::add_identity(J, lame_.mu);
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) J(3 * j + i, 3 * i + j) += lame_.mu;
    }
    detail::add_outer<T>(J, lame_.lambda, Matrix3<T>::Identity(), Matrix3<T>::Identity());
  }
  Matrix3<T> change(const Matrix3<T>& A) const {
    return (A + A.transpose()) * lame_.mu + Matrix3<T>::Identity() * (lame_.lambda * A.trace());
  }
  Matrix3<T> second(const Matrix3<T>&, const Matrix3<T>&) const { return Matrix3<T>::Zero(); }

 private:
  Lame<T> lame_;
  Matrix3<T> strain_;
};

/// St. Venant-Kirchhoff: E = (FᵀF − I)/2, Ψ = μ E:E + λ/2 tr²E, P = F S with S = 2μ E + λ tr(E) I.
template <class T>
class StVKModel {
 public:
  StVKModel(const Matrix3<T>& F, const Lame<T>& lame)
      : lame_(lame), F_(F), E_((F.transpose() * F - Matrix3<T>::Identity()) * T(0.5)), S_(law(E_)) {}

  T energy() const { return T(0.5) * detail::contract(S_, E_); }
  Matrix3<T> stress() const { return F_ * S_; }
  void jacobian(Matrix9<T>& J) const {
    // ∂P_ij/∂F_kl = δ_ik S_jl + λ F_ij F_kl + μ ((F Fᵀ)_ik δ_jl + F_il F_kj)
    const Matrix3<T> FFt = F_ * F_.transpose();
    for (int l = 0; l < 3; ++l) {
      for (int k = 0; k < 3; ++k) {
        const T scaled = lame_.lambda * F_(k, l);
        for (int j = 0; j < 3; ++j) {
          const T other = lame_.mu * F_(k, j);
          for (int i = 0; i < 3; ++i) {
            T value = scaled * F_(i, j) + other * F_(i, l);
            if (i == k) value += S_(j, l);
            if (j == l) value += lame_.mu * FFt(i, k);
            J(3 * j + i, 3 * l + k) = value;
          }
        }
      }
    }
  }
  Matrix3<T> change(const Matrix3<T>& A) const {
    return A * S_ + F_ * law(detail::symmetric_part<T>(F_.transpose() * A));
  }
  Matrix3<T> second(const Matrix3<T>& A, const Matrix3<T>& B) const {
    const Matrix3<T> dS_A = law(detail::symmetric_part<T>(F_.transpose() * A));
    const Matrix3<T> dS_B = law(detail::symmetric_part<T>(F_.transpose() * B));
    return B * dS_A + A * dS_B + F_ * law(detail::symmetric_part<T>(A.transpose() * B));
  }

 private:
  Matrix3<T> law(const Matrix3<T>& E) const {
    return E * (T(2) * lame_.mu) + Matrix3<T>::Identity() * (lame_.lambda * E.trace());
  }
  Lame<T> lame_;
  Matrix3<T> F_;
  Matrix3<T> E_;
  Matrix3<T> S_;
};

/// Corotational: F = R S, Ψ = μ |F − R|² + λ/2 (tr S − 3)².
///
/// The rotation turns with F as δR = R [ω]×, (tr(S) I − S) ω = axl(RᵀδF − δFᵀR), because δS must stay symmetric.
/// In the eigenbasis v_k of S the matrix tr(S) I − S is diagonal with entries σ_i + σ_j, hence
/// ∂R/∂F = Σ_k vec(R[v_k]×) vec(R[v_k]×)ᵀ / (σ_i + σ_j). The sums are clamped: at σ_i + σ_j = 0 (a half turn inside
/// out) the nearest rotation jumps and has no derivative.
template <class T>
class CorotationalModel {
 public:
  CorotationalModel(const Matrix3<T>& F, const Lame<T>& lame) : lame_(lame), F_(F) {
    const Svd3<T> svd = svd3(F);
    R_ = svd.U * svd.V.transpose();
    V_ = svd.V;
    stretch_ = svd.sigma.sum() - T(3);
    for (int k = 0; k < 3; ++k) {
      const T sum = svd.sigma[(k + 1) % 3] + svd.sigma[(k + 2) % 3];
      const T smallest(1e-4);
      inverse_sum_[k] = T(1) / select(sum < smallest, smallest, sum);
    }
  }

  T energy() const {
    const Matrix3<T> difference = F_ - R_;
    return lame_.mu * detail::contract(difference, difference) + T(0.5) * lame_.lambda * stretch_ * stretch_;
  }
  Matrix3<T> stress() const { return (F_ - R_) * (T(2) * lame_.mu) + R_ * (lame_.lambda * stretch_); }
  void jacobian(Matrix9<T>& J) const {
    J.setZero();
    detail::add_identity(J, T(2) * lame_.mu);
    detail::add_outer<T>(J, lame_.lambda, R_, R_);
    const T spin = lame_.lambda * stretch_ - T(2) * lame_.mu;
    for (int k = 0; k < 3; ++k) {
      const Matrix3<T> W = R_ * hat(V_.col(k));
      detail::add_outer<T>(J, spin * inverse_sum_[k], W, W);
    }
  }
  Matrix3<T> change(const Matrix3<T>& A) const {
    const Matrix3<T> dR = R_ * hat(spin_of(R_.transpose() * A));
    return (A - dR) * (T(2) * lame_.mu) + R_ * (lame_.lambda * detail::contract<T>(R_, A)) +
           dR * (lame_.lambda * stretch_);
  }
  Matrix3<T> second(const Matrix3<T>& A, const Matrix3<T>& B) const {
    const Matrix3<T> Rt = R_.transpose();
    const Eigen::Matrix<T, 3, 1> omega_A = spin_of(Rt * A);
    const Eigen::Matrix<T, 3, 1> omega_B = spin_of(Rt * B);
    const Matrix3<T> dR_A = R_ * hat(omega_A);
    const Matrix3<T> dR_B = R_ * hat(omega_B);
    // Differentiate G ω_B = axl(RᵀB − BᵀR), G = tr(S) I − S, along A.
    const Matrix3<T> dS_A = dR_A.transpose() * F_ + Rt * A;
    const Eigen::Matrix<T, 3, 1> dG_omega = omega_B * dS_A.trace() - dS_A * omega_B;
    const Eigen::Matrix<T, 3, 1> domega = solve_spin(axial(dR_A.transpose() * B) - dG_omega);
    const Matrix3<T> ddR = dR_A * hat(omega_B) + R_ * hat(domega);
    return ddR * (lame_.lambda * stretch_ - T(2) * lame_.mu) + R_ * (lame_.lambda * detail::contract<T>(dR_A, B)) +
           dR_A * (lame_.lambda * detail::contract<T>(R_, B)) + dR_B * (lame_.lambda * detail::contract<T>(R_, A));
  }

 private:
  using Vector = Eigen::Matrix<T, 3, 1>;
  /// Gives the matrix [v]× with [v]× x = v × x.
  static Matrix3<T> hat(const Vector& v) {
    Matrix3<T> result;
    result << T(0), -v[2], v[1], v[2], T(0), -v[0], -v[1], v[0], T(0);
    return result;
  }
  /// Gives the vector v with [v]× = X − Xᵀ.
  static Vector axial(const Matrix3<T>& X) { return Vector(X(2, 1) - X(1, 2), X(0, 2) - X(2, 0), X(1, 0) - X(0, 1)); }
  /// Gives ω = (tr(S) I − S)⁻¹ v, how the rotation of F = R S spins: dR = R [ω]× where v is the axial vector of Rᵀ dF.
  Vector solve_spin(const Vector& v) const {
    Vector local = V_.transpose() * v;
    for (int k = 0; k < 3; ++k) local[k] *= inverse_sum_[k];
    return V_ * local;
  }
  Vector spin_of(const Matrix3<T>& X) const { return solve_spin(axial(X)); }

  Lame<T> lame_;
  Matrix3<T> F_;
  Matrix3<T> R_;
  Matrix3<T> V_;
  T stretch_;
  Vector inverse_sum_;
};

/// Classical neo-Hookean: J = det F, Ψ = μ/2 (|F|² − 3) − μ log J + λ/2 log²J. NaN for J ≤ 0: the caller's line search
/// must not go there.
template <class T>
class NeoHookeanModel {
 public:
  NeoHookeanModel(const Matrix3<T>& F, const Lame<T>& lame) : lame_(lame), F_(F) {
    using std::log;
    const Matrix3<T> cof = detail::cofactor<T>(F);
    const T J = F.col(0).dot(cof.col(0));
    G_ = cof * (T(1) / J);
    log_J_ = log(J);
  }

  T energy() const {
    return T(0.5) * lame_.mu * (detail::contract(F_, F_) - T(3)) - lame_.mu * log_J_ +
           T(0.5) * lame_.lambda * log_J_ * log_J_;
  }
  /// P = μ (F − F⁻ᵀ) + λ log J F⁻ᵀ
  Matrix3<T> stress() const { return F_ * lame_.mu + G_ * (lame_.lambda * log_J_ - lame_.mu); }
  void jacobian(Matrix9<T>& J) const {
    // ∂P_ij/∂F_kl = μ δ_ik δ_jl + (μ − λ log J) G_il G_kj + λ G_ij G_kl, G = F⁻ᵀ
    const T c = lame_.mu - lame_.lambda * log_J_;
    for (int l = 0; l < 3; ++l) {
      for (int k = 0; k < 3; ++k) {
        const T scaled = lame_.lambda * G_(k, l);
        for (int j = 0; j < 3; ++j) {
          const T other = c * G_(k, j);
          for (int i = 0; i < 3; ++i) J(3 * j + i, 3 * l + k) = scaled * G_(i, j) + other * G_(i, l);
        }
      }
    }
    detail::add_identity(J, lame_.mu);
  }
  Matrix3<T> change(const Matrix3<T>& A) const {
    return A * lame_.mu + G_ * A.transpose() * G_ * (lame_.mu - lame_.lambda * log_J_) +
           G_ * (lame_.lambda * detail::contract(G_, A));
  }
  Matrix3<T> second(const Matrix3<T>& A, const Matrix3<T>& B) const {
    const T c = lame_.mu - lame_.lambda * log_J_;
    const T GA = detail::contract(G_, A);
    const T GB = detail::contract(G_, B);
    const Matrix3<T> dG = -(G_ * A.transpose() * G_);
    const Matrix3<T> GBtG = G_ * B.transpose() * G_;
    return (dG * B.transpose() * G_ + G_ * B.transpose() * dG) * c - GBtG * (lame_.lambda * GA) +
           G_ * (lame_.lambda * detail::contract<T>(dG, B)) + dG * (lame_.lambda * GB);
  }

 private:
  Lame<T> lame_;
  Matrix3<T> F_;
  Matrix3<T> G_;  ///< F⁻ᵀ
  T log_J_;
};

/// Stable neo-Hookean (Smith, de Goes, Kim 2018): Ψ = m/2 (|F|² − 3) − m/2 log(|F|² + 1) + l/2 (J − α)² + const with
/// m = 4/3 μ, l = λ + 5/6 μ, α = 1 + 3m/(4l), so that P(I) = 0 and ∂P/∂F(I) is that of linear elasticity.
/// Defined for every F, inverted or flat.
template <class T>
class StableNeoHookeanModel {
 public:
  StableNeoHookeanModel(const Matrix3<T>& F, const Lame<T>& lame)
      : m_(lame.mu * T(4.0 / 3.0)), l_(lame.lambda + lame.mu * T(5.0 / 6.0)), F_(F), cof_(detail::cofactor<T>(F)) {
    alpha_ = T(1) + T(0.75) * m_ / l_;
    J_ = F.col(0).dot(cof_.col(0));
    norm2_ = detail::contract(F, F);
    s_ = T(1) / (norm2_ + T(1));
  }

  T energy() const {
    using std::log;
    const T rest = T(0.5) * l_ * (T(1) - alpha_) * (T(1) - alpha_);
    return T(0.5) * m_ * (norm2_ - T(3) + log(T(4) * s_)) + T(0.5) * l_ * (J_ - alpha_) * (J_ - alpha_) - rest;
  }
  Matrix3<T> stress() const { return F_ * (m_ * (T(1) - s_)) + cof_ * (l_ * (J_ - alpha_)); }
  void jacobian(Matrix9<T>& J) const {
    for (int col = 0; col < 9; ++col) {
      const T along_F = T(2) * m_ * s_ * s_ * F_.data()[col];
      const T along_cof = l_ * cof_.data()[col];
      for (int row = 0; row < 9; ++row) J(row, col) = along_F * F_.data()[row] + along_cof * cof_.data()[row];
    }
    detail::add_identity(J, m_ * (T(1) - s_));
    detail::add_cofactor_jacobian(J, l_ * (J_ - alpha_), F_);
  }
  Matrix3<T> change(const Matrix3<T>& A) const {
    return A * (m_ * (T(1) - s_)) + F_ * (T(2) * m_ * s_ * s_ * detail::contract(F_, A)) +
           cof_ * (l_ * detail::contract(cof_, A)) + detail::cofactor_derivative<T>(F_, A) * (l_ * (J_ - alpha_));
  }
  Matrix3<T> second(const Matrix3<T>& A, const Matrix3<T>& B) const {
    const T FA = detail::contract(F_, A);
    const T FB = detail::contract(F_, B);
    const T s2 = s_ * s_;
    const Matrix3<T> dcof_A = detail::cofactor_derivative<T>(F_, A);
    const Matrix3<T> dcof_B = detail::cofactor_derivative<T>(F_, B);
    const Matrix3<T> stretch = B * FA + A * FB + F_ * (detail::contract<T>(A, B) - T(4) * s_ * FA * FB);
    const Matrix3<T> volume = cof_ * detail::contract<T>(dcof_A, B) + dcof_A * detail::contract<T>(cof_, B) +
                              dcof_B * detail::contract<T>(cof_, A) +
                              detail::cofactor_derivative<T>(A, B) * (J_ - alpha_);
    return stretch * (T(2) * m_ * s2) + volume * l_;
  }

 private:
  T m_, l_, alpha_;
  Matrix3<T> F_;
  Matrix3<T> cof_;
  T J_, norm2_, s_;
};

/// Flesh: soft for small strain, stiff for large, as collagen makes it (after Fung 1967, to second order):
///   Ψ = Ψ_s + κ Ψ_s² / 2,   P = (1 + κ Ψ_s) P_s      Ψ_s stable neo-Hookean, κ = 10/μ
/// At strain 0.3 it is about twice as stiff. Rest, small strain and the third derivative at rest are those of Ψ_s.
template <class T>
class FleshModel {
 public:
  FleshModel(const Matrix3<T>& F, const Lame<T>& lame)
      : base_(F, lame), kappa_(T(10) / lame.mu), psi_(base_.energy()), P_(base_.stress()) {}

  T energy() const { return psi_ + T(0.5) * kappa_ * psi_ * psi_; }
  Matrix3<T> stress() const { return P_ * factor(); }
  void jacobian(Matrix9<T>& J) const {
    base_.jacobian(J);
    const T c = factor();
    for (int k = 0; k < 81; ++k) J.data()[k] *= c;
    detail::add_outer<T>(J, kappa_, P_, P_);
  }
  Matrix3<T> change(const Matrix3<T>& A) const {
    return base_.change(A) * factor() + P_ * (kappa_ * detail::contract(P_, A));
  }
  Matrix3<T> second(const Matrix3<T>& A, const Matrix3<T>& B) const {
    Matrix9<T> J;
    base_.jacobian(J);
    const Matrix3<T> JA = apply(J, A);
    const Matrix3<T> JB = apply(J, B);
    return base_.second(A, B) * factor() +
           (P_ * detail::contract(JB, A) + JB * detail::contract(P_, A) + JA * detail::contract(P_, B)) * kappa_;
  }

 private:
  T factor() const { return T(1) + kappa_ * psi_; }
  static Matrix3<T> apply(const Matrix9<T>& J, const Matrix3<T>& A) {
    Matrix3<T> result;
    for (int row = 0; row < 9; ++row) {
      T sum = J(row, 0) * A.data()[0];
      for (int k = 1; k < 9; ++k) sum += J(row, k) * A.data()[k];
      result.data()[row] = sum;
    }
    return result;
  }

  StableNeoHookeanModel<T> base_;
  T kappa_, psi_;
  Matrix3<T> P_;
};

/// Calls visitor.template operator()<Model>() with the class template of `model` bound to scalar T.
template <class T, class Visitor>
auto with_material(MaterialModel model, const Visitor& visitor) {
  switch (model) {
    case MaterialModel::linear:
      return visitor(std::type_identity<LinearModel<T>>{});
    case MaterialModel::corotational:
      return visitor(std::type_identity<CorotationalModel<T>>{});
    case MaterialModel::stvk:
      return visitor(std::type_identity<StVKModel<T>>{});
    case MaterialModel::neo_hookean:
      return visitor(std::type_identity<NeoHookeanModel<T>>{});
    case MaterialModel::flesh:
      return visitor(std::type_identity<FleshModel<T>>{});
    case MaterialModel::stable_neo_hookean:
      break;
  }
  return visitor(std::type_identity<StableNeoHookeanModel<T>>{});
}

}  // namespace supple
