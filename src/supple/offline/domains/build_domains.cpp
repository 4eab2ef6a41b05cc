// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/domains/build_domains.h"

#include <fmt/format.h>

#include "supple/base/clock.h"
#include "supple/fem/elastic_body.h"
#include "supple/offline/domains/interface_fit.h"
#include "supple/offline/forces/cubic_forces.h"
#include "supple/offline/modes/modal_basis.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

Error about_part(const PartPlan& plan, const Error& error) {
  return {error.kind, fmt::format("part \"{}\": {}", plan.name, error.message)};
}

/// So many modes that they and their derivatives are half as many again as the coordinates.
int modes_for(int size) {
  int k = 3;
  while (k + k * (k + 1) / 2 < 3 * size / 2) ++k;
  return k;
}

int element_count(const PartMesh& mesh) {
  return std::visit([](const auto& m) { return static_cast<int>(m.elements.size()); }, mesh);
}

template <class Mesh>
Result<SubspaceModel> reduce_mesh(const Mesh& mesh, const PartPlan& plan, PartReport& report, Progress& progress) {
  if (plan.size == 0) return build_rigid_model(mesh);
  const Result<ElasticBody> body = ElasticBody::create(mesh, MaterialModel::stvk);
  SUPPLE_RETURN_IF_ERROR(body);
  const int dofs = static_cast<int>(body->dof_count() - 3 * static_cast<Eigen::Index>(plan.fixed.size()));
  ModalBasisSettings settings;
  settings.linear_modes =
      std::min(plan.linear_modes > 0 ? plan.linear_modes : modes_for(plan.size), std::max(1, (dofs - 6) / 2));
  settings.require_anchored = !plan.fixed.empty();
  settings.size = plan.size;
  const Result<ModalBasis> basis = build_modal_basis(*body, plan.fixed, settings, progress);
  SUPPLE_RETURN_IF_ERROR(basis);
  report.lowest_frequency = basis->frequencies[0];
  return build_subspace_model(mesh, basis->basis, progress);
}

Status embed_part_surface(const PartPlan& plan, SubspaceModel& model) {
  if (!plan.surface) return {};
  const Result<Embedding> embedding =
      std::visit([&](const auto& mesh) { return embed(mesh, plan.surface->vertices); }, plan.mesh);
  SUPPLE_RETURN_IF_ERROR(embedding);
  embed_surface(model, *plan.surface, *embedding);
  return {};
}

Result<DomainInterface> hang(const DomainModel& model, const DomainPlan& plan) {
  const Domain& parent = model.domains[to_size(plan.parent)];
  const SubspaceModel& part = model.parts[to_size(parent.part)];
  if (!plan.interface.empty()) return fit_interface(part, plan.interface, plan.interface_weights);
  const Vec3 place = parent.rotation.transpose() * (plan.position - parent.position) / parent.scale;
  return attach_at(part, place, plan.reach / parent.scale);
}

Result<Domain> place_domain(const DomainModel& model, const DomainPlan& plan, std::size_t index) {
  const std::string name = fmt::format("domain {} (\"{}\")", index, model.part_names[to_size(plan.part)]);
  if (!(plan.scale > 0) || !std::isfinite(plan.scale))
    return input_error(fmt::format("{} has a scale of {:g}; scales are above zero", name, plan.scale));
  if (!(plan.frequency > 0) || !std::isfinite(plan.frequency))
    return input_error(fmt::format("{} has a frequency factor of {:g}; it must be above zero", name, plan.frequency));
  if ((plan.parent < 0) != (index == 0) || plan.parent >= static_cast<Index>(index))
    return input_error(fmt::format("{} must come after its parent, and only the first has none", name));
  Domain domain;
  domain.part = plan.part;
  domain.parent = plan.parent;
  domain.scale = plan.scale;
  domain.stiffness = plan.frequency * plan.frequency;
  domain.rotation = plan.rotation;
  domain.position = plan.position;
  if (index == 0) return domain;
  Result<DomainInterface> face = hang(model, plan);
  if (!face.ok()) return Error{face.error().kind, fmt::format("{}: {}", name, face.error().message)};
  domain.interface = std::move(*face);
  const Domain& parent = model.domains[to_size(plan.parent)];
  // The child's origin is the centroid, wherever it was said to be.
  domain.position = parent.position + parent.scale * parent.rotation * domain.interface.centre;
  return domain;
}

}  // namespace

Result<SubspaceModel> reduce_part(const PartPlan& plan, PartReport& report, Progress& progress) {
  const auto start = Clock::now();
  report.elements = element_count(plan.mesh);
  Result<SubspaceModel> model =
      std::visit([&](const auto& mesh) { return reduce_mesh(mesh, plan, report, progress); }, plan.mesh);
  if (!model.ok()) return about_part(plan, model.error());
  model->fixed_vertices = plan.fixed;
  if (const Status embedded = embed_part_surface(plan, *model); !embedded.ok())
    return about_part(plan, embedded.error());
  report.size = model->size();
  report.seconds = seconds_since(start);
  return model;
}

Result<DomainBuild> build_domains(const TreePlan& plan, Progress& progress) {
  const auto start = Clock::now();
  DomainBuild out;
  if (plan.domains.empty()) return input_error("there are no domains to build; name at least one part");
  for (const PartPlan& part : plan.parts) {
    progress.stage(fmt::format("reducing {}", part.name));
    Result<SubspaceModel> model = reduce_part(part, out.parts.emplace_back(), progress);
    SUPPLE_RETURN_IF_ERROR(model);
    out.model.parts.push_back(std::move(*model));
    out.model.part_names.push_back(part.name);
  }
  for (std::size_t d = 0; d < plan.domains.size(); ++d) {
    if (plan.domains[d].part < 0 || to_size(plan.domains[d].part) >= plan.parts.size())
      return input_error(fmt::format("domain {} is a copy of part {}, which isn't there", d, plan.domains[d].part));
    Result<Domain> domain = place_domain(out.model, plan.domains[d], d);
    SUPPLE_RETURN_IF_ERROR(domain);
    out.model.domains.push_back(std::move(*domain));
  }
  out.model.surface = plan.surface;
  if (plan.surface.first.empty()) show_all_parts(out.model);
  SUPPLE_RETURN_IF_ERROR(check_domain_model(out.model));
  out.seconds = seconds_since(start);
  return out;
}

void share_coordinates(TreePlan& plan, int total) {
  double sum = 0;
  const auto weight = [&](const PartPlan& part) {
    return part.size == 0 ? 0.0 : std::log(1.0 + element_count(part.mesh));
  };
  for (const DomainPlan& domain : plan.domains) sum += weight(plan.parts[to_size(domain.part)]);
  for (PartPlan& part : plan.parts)
    if (part.size > 0) part.size = std::clamp(static_cast<int>(std::lround(total * weight(part) / sum)), 4, 30);
}

}  // namespace supple
