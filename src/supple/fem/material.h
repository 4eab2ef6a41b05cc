// SPDX-License-Identifier: Apache-2.0
// Which elastic energies exist, and how Young's modulus and Poisson's ratio become Lamé's coefficients.
// The formulas themselves are in fem/material_models.h.
#pragma once

#include <optional>
#include <string_view>

namespace supple {

enum class MaterialModel {
  linear,              ///< small strain; cheap, right for vibration modes only
  corotational,        ///< small strain in the rotating frame of each element
  stvk,                ///< St. Venant-Kirchhoff: linear law on Green's strain, polynomial, weak under compression
  neo_hookean,         ///< classical: energy grows without bound as an element is crushed; infinite when inverted
  stable_neo_hookean,  ///< finite and restoring for inverted elements too
  flesh                ///< stable neo-Hookean that stiffens as it stretches, as tissue does; the default for characters
};

/// "linear", "corotational", "stvk", "neo_hookean", "stable_neo_hookean", "flesh".
std::string_view to_string(MaterialModel model);
std::optional<MaterialModel> material_model_from(std::string_view name);

/// Lamé's coefficients [Pa]: μ = E / (2 (1 + ν)), λ = E ν / ((1 + ν)(1 − 2ν)).
template <class T>
struct Lame {
  T mu;
  T lambda;
};

template <class T>
Lame<T> lame_from(T young, T poisson) {
  return {young / (T(2) * (T(1) + poisson)), young * poisson / ((T(1) + poisson) * (T(1) - T(2) * poisson))};
}

}  // namespace supple
