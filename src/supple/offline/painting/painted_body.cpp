// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/painting/painted_body.h"

#include <fmt/format.h>

#include "supple/base/nearest_name.h"
#include "supple/mesh/quality.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace supple {
namespace {

/// Elements can't be stiff without end against compression, which one half would mean.
constexpr double most_poisson = 0.499;

bool is_geometric(PaintQuantity quantity) {
  return quantity == PaintQuantity::softness || quantity == PaintQuantity::young;
}

void apply(const PaintedQuantity& paint, std::size_t element, ElasticMaterial& material) {
  const double value = paint.values[element];
  switch (paint.quantity) {
    case PaintQuantity::softness:
      material.young /= value;
      break;
    case PaintQuantity::young:
      material.young = value;
      break;
    case PaintQuantity::poisson:
      material.poisson = value;
      break;
    case PaintQuantity::density:
      material.density = value;
      break;
    case PaintQuantity::fixity:
      break;
  }
}

/// Which step of 0.5 % a positive number is in.
long step_of(double value) { return std::lround(std::log(value) / std::log(1.005)); }

}  // namespace

Status check_quantity(PaintQuantity quantity, double value) {
  if (quantity == PaintQuantity::poisson) {
    if (value > -1 && value <= 0.5) return {};
    return input_error(fmt::format(
        "Poisson's ratio is painted as {:.4g}, but must be above -1 and at most 0.5; 0.45 is right for flesh", value));
  }
  if (quantity == PaintQuantity::fixity) {
    if (std::isfinite(value)) return {};
    return input_error("fixity must be painted with finite numbers");
  }
  constexpr double most[] = {1e6, 1e12, 0, 1e6};  // beyond, nothing moves, or nothing holds together
  if (value > 0 && value <= most[to_size(quantity)]) return {};
  constexpr std::string_view advice[] = {"1 keeps the body's material; where colours are the paint, give a range",
                                         "it is in pascals; where colours are the paint, give a range", "",
                                         "it is in kg/m³; where colours are the paint, give a range"};
  return input_error(fmt::format("{} is painted as {:.4g}, but must be positive and at most {:g}: {}",
                                 paint_quantity_names[to_size(quantity)], value, most[to_size(quantity)],
                                 advice[to_size(quantity)]));
}

Result<std::vector<double>> to_quantity(PaintQuantity quantity, std::span<const double> carried,
                                        const std::optional<PaintRange>& range) {
  if (range) {
    for (const double end : *range) SUPPLE_RETURN_IF_ERROR(check_quantity(quantity, end));
  }
  std::vector<double> values(carried.begin(), carried.end());
  for (double& value : values) {
    if (range) {
      const auto [low, high] = *range;
      value = is_geometric(quantity) ? low * std::pow(high / low, value) : low + (high - low) * value;
    }
    SUPPLE_RETURN_IF_ERROR(check_quantity(quantity, value));
    if (quantity == PaintQuantity::poisson) value = std::min(value, most_poisson);
  }
  return values;
}

void multiply_softness(double factor, std::span<const double> share, std::vector<PaintedQuantity>& paints) {
  PaintedQuantity softness{PaintQuantity::softness, std::vector<double>(share.size(), 1.0)};
  for (const PaintedQuantity& painted : paints)
    if (painted.quantity == PaintQuantity::softness) softness = painted;
  for (std::size_t e = 0; e < softness.values.size(); ++e) softness.values[e] *= std::pow(factor, share[e]);
  std::erase_if(paints, [](const PaintedQuantity& paint) { return paint.quantity == PaintQuantity::softness; });
  paints.push_back(std::move(softness));
}

void paint_materials(TetMesh& mesh, const ElasticMaterial& base, std::span<const PaintedQuantity> paints) {
  mesh.materials.clear();
  mesh.regions.clear();
  mesh.element_material.assign(mesh.elements.size(), 0);
  std::map<std::array<long, 3>, Index> known;
  std::vector<double> members;
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    ElasticMaterial own = base;
    for (const PaintedQuantity& paint : paints) apply(paint, e, own);
    const std::array<long, 3> step{step_of(own.young), step_of(1 - 2 * own.poisson), step_of(own.density)};
    const auto [place, is_new] = known.try_emplace(step, static_cast<Index>(mesh.materials.size()));
    const auto material = to_size(place->second);
    mesh.element_material[e] = place->second;
    if (is_new) {
      mesh.materials.push_back({fmt::format("{} {}", base.name.empty() ? "paint" : base.name, material + 1), 0, 0, 0});
      members.push_back(0);
    }
    // Running means.
    const double n = ++members[material];
    ElasticMaterial& mean = mesh.materials[material];
    mean.young += (own.young - mean.young) / n;
    mean.poisson += (own.poisson - mean.poisson) / n;
    mean.density += (own.density - mean.density) / n;
  }
}

std::vector<Index> vertices_fixed_by(const TetMesh& mesh, std::span<const double> fixity) {
  const std::vector<double> volumes = element_volumes(mesh);
  std::vector<double> balance(mesh.vertices.size(), 0.0);
  for (std::size_t e = 0; e < mesh.elements.size(); ++e)
    for (const Index v : mesh.elements[e]) balance[to_size(v)] += volumes[e] * (fixity[e] - 0.5);
  std::vector<Index> fixed;
  for (std::size_t v = 0; v < balance.size(); ++v)
    if (balance[v] > 0) fixed.push_back(static_cast<Index>(v));
  return fixed;
}

void PosePaint::interpolate(std::span<const double> weights, std::span<double> out) const {
  SUPPLE_ASSERT(weights.size() == poses.size() && out.size() == to_size(values.rows()));
  Eigen::Map<VecX> result(out.data(), values.rows());
  result.noalias() = values * Eigen::Map<const VecX>(weights.data(), values.cols());
}

Result<PosePaint> make_pose_paint(std::span<const std::string> poses, std::span<const double> neutral,
                                  const std::vector<std::pair<std::string, std::vector<double>>>& painted) {
  PosePaint result{{poses.begin(), poses.end()}, {}, {}};
  const Eigen::Map<const VecX> base(neutral.data(), static_cast<Eigen::Index>(neutral.size()));
  result.values = base.replicate(1, static_cast<Eigen::Index>(poses.size()));
  result.neutral = base;
  for (const auto& [name, values] : painted) {
    const auto found = std::find(poses.begin(), poses.end(), name);
    if (found == poses.end()) {
      const std::vector<std::string_view> names(poses.begin(), poses.end());
      const std::string_view near = nearest_name(name, names);
      return input_error(fmt::format("paint is given for a pose \"{}\", which doesn't exist{}", name,
                                     near.empty() ? "" : fmt::format("; did you mean \"{}\"?", near)));
    }
    if (values.size() != neutral.size())
      return input_error(fmt::format("the paint of pose \"{}\" is for another number of tetrahedra", name));
    result.values.col(found - poses.begin()) =
        Eigen::Map<const VecX>(values.data(), static_cast<Eigen::Index>(values.size()));
  }
  return result;
}

}  // namespace supple
