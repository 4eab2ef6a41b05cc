// SPDX-License-Identifier: Apache-2.0
#include "supple/fem/material.h"

#include <array>
#include <utility>

namespace supple {
namespace {

constexpr std::array<std::pair<MaterialModel, std::string_view>, 6> names = {{
    {MaterialModel::linear, "linear"},
    {MaterialModel::corotational, "corotational"},
    {MaterialModel::stvk, "stvk"},
    {MaterialModel::neo_hookean, "neo_hookean"},
    {MaterialModel::stable_neo_hookean, "stable_neo_hookean"},
    {MaterialModel::flesh, "flesh"},
}};

}  // namespace

std::string_view to_string(MaterialModel model) {
  for (const auto& [candidate, name] : names) {
    if (candidate == model) return name;
  }
  return "unknown";
}

std::optional<MaterialModel> material_model_from(std::string_view name) {
  for (const auto& [model, candidate] : names) {
    if (candidate == name) return model;
  }
  return std::nullopt;
}

}  // namespace supple
