// SPDX-License-Identifier: Apache-2.0
#include "supple/asset/domain_model.h"

#include <Eigen/Geometry>

#include <cmath>

namespace supple {
namespace {

Status check_interface(const DomainModel& model, const Domain& domain, const std::string& name) {
  if (domain.parent < 0) return {};
  const Eigen::Index r = model.part_of(domain.parent).size();
  const DomainInterface& face = domain.interface;
  if (face.move.rows() != 3 || face.move.cols() != r || face.turn.rows() != 9 || face.turn.cols() != r)
    return input_error(name + " has an interface that doesn't fit its parent's coordinates; build the model again");
  return {};
}

Status check_domain(const DomainModel& model, Index index) {
  const Domain& domain = model.domains[to_size(index)];
  const std::string name = "domain " + std::to_string(index);
  if (domain.part < 0 || to_size(domain.part) >= model.parts.size())
    return input_error(name + " is a copy of a part that isn't there; build the model again");
  if (index == 0 ? domain.parent != -1 : domain.parent < 0 || domain.parent >= index)
    return input_error(name + " doesn't come after its parent; build the model again");
  if (!(domain.scale > 0) || !std::isfinite(domain.scale))
    return input_error(name + " has a scale that isn't positive; give it one above zero");
  if (!(domain.stiffness > 0) || !std::isfinite(domain.stiffness))
    return input_error(name + " has a stiffness that isn't positive; give it one above zero");
  const Mat3 unit = domain.rotation.transpose() * domain.rotation;
  if (!((unit - Mat3::Identity()).cwiseAbs().maxCoeff() < 1e-6) || !(domain.rotation.determinant() > 0))
    return input_error(name + " has a rotation that isn't one; build the model again");
  return check_interface(model, domain, name);
}

Status check_surface(const DomainModel& model) {
  const DomainSurface& shown = model.surface;
  const auto is_there = [&](Index d, Index vertex) {
    return d >= 0 && d < model.domain_count() && vertex >= 0 && vertex < model.part_of(d).surface.vertex_count();
  };
  bool sound = shown.weight.empty() || shown.weight.size() == shown.domain.size();
  for (std::size_t k = 0; k < shown.domain.size(); ++k) sound &= is_there(shown.domain[k], shown.vertex[k]);
  for (const auto& seam : shown.seams) sound &= is_there(seam[0], seam[1]) && is_there(seam[2], seam[3]);
  if (!sound) return input_error("the surface of the domains names a vertex that isn't there; build the model again");
  return {};
}

Status check_cubature(const DomainModel& model, std::size_t part) {
  const PartCubature* points = model.cubature_of(part);
  if (points == nullptr) return {};
  const Eigen::Index r = model.parts[part].size(), count = points->weight.size();
  const bool fits = points->lame.rows() == 2 && points->lame.cols() == count && points->gradients.rows() == 9 * count &&
                    points->gradients.cols() == r && points->correction.rows() == r && points->correction.cols() == r;
  if (!fits || !(points->lame.row(0).minCoeff() > 0))
    return input_error("the elastic points of part \"" + model.part_names[part] +
                       "\" don't fit its coordinates; build the model again");
  return {};
}

Status check_closures(const DomainModel& model) {
  const auto is_site = [&](Index d) { return d > 0 && d < model.domain_count() && model.part_of(d).size() == 0; };
  for (const DomainClosure& closure : model.closures) {
    const bool sites = is_site(closure.first) && (closure.second == -1 || is_site(closure.second));
    if (!sites || !(closure.give >= 0) || !std::isfinite(closure.give) || !(closure.radius >= 0) ||
        !std::isfinite(closure.radius))
      return input_error("a loop of the model is closed where there is no place for it; build the model again");
    if (closure.second < 0 && !model.anchored())
      return input_error("a loop of the model ends at the ground, but nothing holds its root; build the model again");
  }
  return {};
}

}  // namespace

Index DomainModel::size() const {
  Index sum = 0;
  for (const Domain& domain : domains) sum += parts[to_size(domain.part)].size();
  return sum;
}

Index DomainModel::depth() const {
  std::vector<Index> level(domains.size(), 0);
  Index deepest = 0;
  for (std::size_t d = 1; d < domains.size(); ++d) {
    level[d] = level[to_size(domains[d].parent)] + 1;
    deepest = std::max(deepest, level[d]);
  }
  return deepest;
}

double DomainModel::mass() const {
  std::vector<double> of_part;
  for (const SubspaceModel& part : parts) of_part.push_back(mass_moments(part).volume);
  double sum = 0;
  for (const Domain& domain : domains) sum += std::pow(domain.scale, 3) * of_part[to_size(domain.part)];
  return sum;
}

std::vector<Vec3> rest_positions(const DomainModel& model) {
  const DomainSurface& shown = model.surface;
  std::vector<Vec3> positions(to_size(shown.vertex_count()), Vec3::Zero());
  for (std::size_t v = 0; v < positions.size(); ++v) {
    for (auto k = to_size(shown.first[v]); k < to_size(shown.first[v + 1]); ++k) {
      const Domain& domain = model.domains[to_size(shown.domain[k])];
      const Vec3& X = model.part_of(shown.domain[k]).surface.rest_positions[to_size(shown.vertex[k])];
      const Vec3 turned = domain.rotation * X;
      positions[v] += shown.weight_of(v, k) * (domain.position + domain.scale * turned);
    }
  }
  return positions;
}

void show_all_parts(DomainModel& model) {
  DomainSurface shown;
  shown.first.push_back(0);
  for (Index d = 0; d < model.domain_count(); ++d) {
    const DisplaySurface& part = model.part_of(d).surface;
    const Index base = shown.vertex_count();
    for (Index v = 0; v < part.vertex_count(); ++v) {
      shown.domain.push_back(d);
      shown.vertex.push_back(v);
      shown.first.push_back(static_cast<Index>(shown.domain.size()));
    }
    for (const Triangle& t : part.triangles) shown.triangles.push_back({base + t[0], base + t[1], base + t[2]});
  }
  model.surface = std::move(shown);
}

Status check_domain_model(const DomainModel& model) {
  if (model.domains.empty()) return input_error("the model has no domains; build it again");
  if (model.part_names.size() != model.parts.size())
    return input_error("the parts of the model and their names aren't as many; build it again");
  for (const SubspaceModel& part : model.parts)
    if (part.size() > 0) SUPPLE_RETURN_IF_ERROR(check_subspace_model(part));
  for (std::size_t p = 0; p < model.parts.size(); ++p) SUPPLE_RETURN_IF_ERROR(check_cubature(model, p));
  for (Index d = 0; d < model.domain_count(); ++d) SUPPLE_RETURN_IF_ERROR(check_domain(model, d));
  SUPPLE_RETURN_IF_ERROR(check_closures(model));
  return check_surface(model);
}

}  // namespace supple
