// SPDX-License-Identifier: Apache-2.0
// Beam theory, worked out by its own means: Timoshenko's equations for bending as a transfer matrix, whose boundary
// determinants vanish at the natural frequencies. With y = (w, φ, M, V) along the beam,
//   w' = φ + V/(κGA),  φ' = M/(EI),  M' = −V − ρIω²φ,  V' = −ρAω²w,      y(L) = exp(L A(ω)) y(0).
// Euler-Bernoulli is the limit G → ∞, I ρ → 0. Rods: axial waves of speed √(E/ρ), torsional waves √(GJ/(ρI_p)).
#pragma once

#include "supple/base/types.h"

#include <Eigen/LU>

#include <cmath>
#include <numbers>
#include <vector>

namespace supple {

/// A beam of square section and Poisson's ratio zero, so that three-dimensional elasticity has no lateral contraction.
struct SquareBeam {
  double length, side, young, density;

  double area() const { return side * side; }
  double inertia() const { return std::pow(side, 4) / 12; }
  double shear() const { return young / 2; }                                 // G = E / (2 (1 + ν))
  static constexpr double shear_coefficient = 5.0 / 6;                       // κ, Cowper 1966, rectangle, ν = 0
  double torsion_constant() const { return 0.1405770 * std::pow(side, 4); }  // Saint-Venant, square
  double axial_speed() const { return std::sqrt(young / density); }
  double torsion_speed() const { return std::sqrt(shear() * torsion_constant() / (density * 2 * inertia())); }

  enum class Ends { clamped_free, free_free };

  Eigen::Matrix4d transfer(double omega) const {
    Eigen::Matrix4d A = Eigen::Matrix4d::Zero();
    A(0, 1) = 1, A(0, 3) = 1 / (shear_coefficient * shear() * area());
    A(1, 2) = 1 / (young * inertia());
    A(2, 1) = -density * inertia() * omega * omega, A(2, 3) = -1;
    A(3, 0) = -density * area() * omega * omega;
    // exp by squaring a short step's Taylor series.
    constexpr int squarings = 10;
    const Eigen::Matrix4d step = A * (length / (1 << squarings));
    Eigen::Matrix4d T = Eigen::Matrix4d::Identity(), term = T;
    for (int k = 1; k < 16; ++k) {
      term = term * step / k;
      T += term;
    }
    for (int k = 0; k < squarings; ++k) T = (T * T).eval();
    return T;
  }

  double boundary_determinant(double omega, Ends ends) const {
    const Eigen::Matrix4d T = transfer(omega);
    // Moment and shear vanish at the far end; what may be chosen at x = 0 is (M, V) clamped, (w, φ) free.
    const int column = ends == Ends::clamped_free ? 2 : 0;
    return T.block<2, 2>(2, column).determinant();
  }

  /// The first bending frequencies [Hz], the double zero of a free beam's rigid motion left out.
  std::vector<double> bending_frequencies(int count, Ends ends) const {
    const double unit = std::sqrt(young * inertia() / (density * area())) / (length * length);
    std::vector<double> result;
    const double step = 0.05 * unit;
    double before = unit, value = boundary_determinant(before, ends);
    while (static_cast<int>(result.size()) < count) {
      const double next = before + step, next_value = boundary_determinant(next, ends);
      if (value * next_value < 0) result.push_back(bisect(before, next, ends) / (2 * std::numbers::pi));
      before = next, value = next_value;
    }
    return result;
  }

 private:
  double bisect(double low, double high, Ends ends) const {
    const bool negative = boundary_determinant(low, ends) < 0;
    for (int k = 0; k < 60; ++k) {
      const double middle = 0.5 * (low + high);
      ((boundary_determinant(middle, ends) < 0) == negative ? low : high) = middle;
    }
    return 0.5 * (low + high);
  }
};

}  // namespace supple
