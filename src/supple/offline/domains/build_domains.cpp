// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/domains/build_domains.h"

#include <fmt/format.h>

#include "supple/base/clock.h"
#include "supple/fem/elastic_body.h"
#include "supple/fem/statics.h"
#include "supple/mesh/bounds.h"
#include "supple/offline/domains/interface_fit.h"
#include "supple/offline/domains/joint_part.h"
#include "supple/offline/domains/part_cubature.h"
#include "supple/offline/domains/tune_frequencies.h"
#include "supple/offline/forces/cubic_forces.h"
#include "supple/offline/modes/mass_pca.h"
#include "supple/offline/modes/modal_basis.h"
#include "supple/offline/modes/modal_derivatives.h"

#include <Eigen/Geometry>

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

/// Static displacements under forces and torques at the interfaces. A torque is a unit force at the end of a lever as
/// long as the part; all of them are scaled so that the farthest vertex goes as far as parts are expected to bend.
template <class Mesh>
Result<MatX> interface_answers(const Mesh& mesh, const PartPlan& plan) {
  const Result<ElasticBody> linear = ElasticBody::create(mesh, MaterialModel::linear);
  SUPPLE_RETURN_IF_ERROR(linear);
  const double length = bounds_of(mesh.vertices).diagonal();
  MatX answers(linear->dof_count(), 6 * std::ssize(plan.loads));
  Eigen::Index column = 0;
  for (const InterfaceLoad& load : plan.loads) {
    double sum = 0, arms = 0;
    Vec3 centre = Vec3::Zero();
    for (std::size_t k = 0; k < load.vertices.size(); ++k) {
      sum += load.weights[k];
      centre += load.weights[k] * mesh.vertices[to_size(load.vertices[k])];
    }
    centre /= sum;
    for (std::size_t k = 0; k < load.vertices.size(); ++k)
      arms += load.weights[k] / sum * (mesh.vertices[to_size(load.vertices[k])] - centre).squaredNorm();
    for (int way = 0; way < 6; ++way, ++column) {
      VecX force = VecX::Zero(linear->dof_count());
      for (std::size_t k = 0; k < load.vertices.size(); ++k) {
        const Vec3 arm = mesh.vertices[to_size(load.vertices[k])] - centre;
        const Vec3 push = way < 3 ? Vec3(Vec3::Unit(way)) : Vec3(Vec3::Unit(way - 3).cross(arm) * length / arms);
        force.segment<3>(3 * load.vertices[k]) += load.weights[k] / sum * push;
      }
      const Result<StaticsResult> answer = solve_static(*linear, plan.fixed, force);
      SUPPLE_RETURN_IF_ERROR(answer);
      answers.col(column) = answer->u;
    }
  }
  constexpr double expected_bend = 0.3;  // of the part's length
  return MatX(answers * (expected_bend * length / std::max(answers.cwiseAbs().maxCoeff(), 1e-300)));
}

/// The answers of a part to its children, and how these answers curve as they grow (modal derivatives, with the answers
/// in the place of modes).
struct LoadAnswers {
  MassPca straight, curved;  ///< the most important of each first
};

/// `metric` says what is important: the mass matrix how far something goes, the stiffness matrix how much energy it
/// takes. `most`: of straight ones.
template <class Mesh>
Result<LoadAnswers> answers_of(const Mesh& mesh, const PartPlan& plan, const ElasticBody& body,
                               const BlockMatrix& metric, Eigen::Index most) {
  const Result<MatX> answers = interface_answers(mesh, plan);
  SUPPLE_RETURN_IF_ERROR(answers);
  Result<MassPca> straight = mass_pca(metric, *answers);
  SUPPLE_RETURN_IF_ERROR(straight);
  const Eigen::Index k = std::min(straight->basis.cols(), most);
  Modes paths;
  paths.shapes = straight->basis.leftCols(k) * straight->singular_values.head(k).asDiagonal();
  const Result<ModalDerivatives> curves = static_derivatives(body, plan.fixed, paths, static_cast<int>(k));
  SUPPLE_RETURN_IF_ERROR(curves);
  Result<MassPca> curved = mass_pca(metric, 0.5 * curves->shapes);
  SUPPLE_RETURN_IF_ERROR(curved);
  return LoadAnswers{std::move(*straight), std::move(*curved)};
}

/// How many of each go into a basis where two places stay for the part's own lowest vibrations, one for either way to
/// bend: without them the stem of a flower was a quarter too stiff.
struct AnswerCounts {
  Eigen::Index straight = 0, curved = 0;
};

/// Few coordinates serve what goes far first: at most a half of them straight answers, two fifths curved ones, none of
/// these in a basis of less than ten, which is better spent on small motion.
AnswerCounts counts_by_distance(const LoadAnswers& answers, Eigen::Index size) {
  // Of the largest amplitude. What twists a stem, or bends its shoulder when two children pull against each other,
  // moves it by less than a hundredth of what bends it, and yet is how the whole vibrates in its third mode.
  constexpr double negligible = 1e-3;
  const double least = negligible * answers.straight.singular_values[0];
  const auto worth = [&](const MassPca& pca, Eigen::Index most) {
    Eigen::Index k = 0;
    while (k < std::min(pca.basis.cols(), most) && pca.singular_values[k] > least) ++k;
    return k;
  };
  return {worth(answers.straight, std::max<Eigen::Index>(1, size / 2)),
          worth(answers.curved, size < 10 ? 0 : std::min(2 * size / 5, size - size / 2 - 2))};
}

/// Where there is room, energy says what is missed most, the same for straight and curved ones: a path that is kept
/// straight stretches the part, which moves it little and takes much. A tree shaped like a Y, r = 16, hangs 4.7 % too
/// little with the choice above, where the mesh bends by a fifth of its height out of its plane, and 0.02 % with this
/// one; the flower 2.1 % and 0.6 %.
AnswerCounts counts_by_energy(const LoadAnswers& answers, Eigen::Index size) {
  // Curves grow with the square of the bend: they count as at a tenth of the one that answers were scaled to.
  constexpr double usual_bend = 0.1;
  AnswerCounts n;
  const Eigen::Index straight = answers.straight.basis.cols(), curved = answers.curved.basis.cols();
  while (n.straight + n.curved < size - 2 && (n.straight < straight || n.curved < curved)) {
    const double next = n.straight < straight ? answers.straight.singular_values[n.straight] : -1;
    const double curve = n.curved < curved ? usual_bend * answers.curved.singular_values[n.curved] : -1;
    ++(n.straight == 0 || next >= curve ? n.straight : n.curved);
  }
  return n;
}

template <class Mesh>
Result<MatX> load_shapes(const Mesh& mesh, const PartPlan& plan, const ElasticBody& body, Eigen::Index size) {
  constexpr Eigen::Index roomy = 16;
  const bool by_energy = size >= roomy;
  BlockMatrix stiffness;
  if (by_energy) {
    stiffness = body.make_matrix();
    VecX none;
    body.internal_force_and_stiffness(VecX::Zero(body.dof_count()), none, stiffness);
  }
  const Result<LoadAnswers> answers = answers_of(mesh, plan, body, by_energy ? stiffness : body.consistent_mass(),
                                                 by_energy ? size : std::max<Eigen::Index>(1, size / 2));
  SUPPLE_RETURN_IF_ERROR(answers);
  const AnswerCounts n = by_energy ? counts_by_energy(*answers, size) : counts_by_distance(*answers, size);
  MatX shapes(answers->straight.basis.rows(), n.straight + n.curved);
  shapes << answers->straight.basis.leftCols(n.straight), answers->curved.basis.leftCols(n.curved);
  return shapes;
}

/// The basis with room made for what the children's loads do.
template <class Mesh>
Result<MatX> with_load_shapes(const Mesh& mesh, const PartPlan& plan, const ElasticBody& body, const MatX& basis) {
  const Result<MatX> loads = load_shapes(mesh, plan, body, basis.cols());
  SUPPLE_RETURN_IF_ERROR(loads);
  MatX shapes(basis.rows(), loads->cols() + basis.cols());
  shapes << *loads, basis;
  const MatX all = mass_orthonormalize(body.consistent_mass(), std::move(shapes));
  return MatX(all.leftCols(std::min(all.cols(), basis.cols())));
}

template <class Mesh>
Result<SubspaceModel> reduce_mesh(const Mesh& mesh, const PartPlan& plan, PartReport& report, Progress& progress) {
  if (plan.size == 0) return build_rigid_model(mesh);
  const Result<ElasticBody> body = ElasticBody::create(mesh, plan.material);
  SUPPLE_RETURN_IF_ERROR(body);
  const auto supported = static_cast<Eigen::Index>(plan.fixed.size() + plan.closed.size());
  const int dofs = static_cast<int>(body->dof_count() - 3 * supported);
  ModalBasisSettings settings;
  settings.linear_modes =
      std::min(plan.linear_modes > 0 ? plan.linear_modes : modes_for(plan.size), std::max(1, (dofs - 6) / 2));
  settings.require_anchored = !plan.fixed.empty();
  settings.size = plan.size;
  std::vector<Index> held = plan.fixed;
  if (!held.empty()) held.insert(held.end(), plan.closed.begin(), plan.closed.end());
  std::sort(held.begin(), held.end());
  held.erase(std::unique(held.begin(), held.end()), held.end());
  const Result<ModalBasis> basis = build_modal_basis(*body, held, settings, progress);
  SUPPLE_RETURN_IF_ERROR(basis);
  report.lowest_frequency = basis->frequencies[0];
  if (plan.loads.empty() || plan.fixed.empty()) return build_subspace_model(mesh, basis->basis, progress);
  const Result<MatX> extended = with_load_shapes(mesh, plan, *body, basis->basis);
  SUPPLE_RETURN_IF_ERROR(extended);
  return build_subspace_model(mesh, *extended, progress);
}

/// Points for a part whose material has no polynomial.
PartCubature choose_points(const PartPlan& plan, const SubspaceModel& model, PartReport& report, Progress& progress) {
  if (plan.material == MaterialModel::stvk || model.size() == 0) return {};
  progress.stage(fmt::format("choosing points of {}", plan.name));
  PartCubature points = train_part_cubature(plan.mesh, model.basis, plan.material, rest_stiffness(model),
                                            plan.tolerance, report.force_error, progress);
  report.points = static_cast<int>(points.weight.size());
  return points;
}

Status embed_part_surface(const PartPlan& plan, SubspaceModel& model) {
  if (!plan.surface) return {};
  const Result<Embedding> embedding =
      std::visit([&](const auto& mesh) { return embed(mesh, plan.surface->vertices); }, plan.mesh);
  SUPPLE_RETURN_IF_ERROR(embedding);
  embed_surface(model, *plan.surface, *embedding);
  return {};
}

/// Adds the points behind the vertices of the part's own surface, which the wind meets.
void add_points(const PartPoints& points, SubspaceModel& model) {
  DisplaySurface& surface = model.surface;
  const Index before = surface.vertex_count();
  surface.basis.conservativeResize(3 * (before + points.count()), model.basis.cols());
  for (Index k = 0; k < points.count(); ++k) {
    Vec3 place = Vec3::Zero();
    MatX rows = MatX::Zero(3, model.basis.cols());
    for (auto i = to_size(points.first[to_size(k)]); i < to_size(points.first[to_size(k) + 1]); ++i) {
      place += points.weight[i] * model.rest_positions[to_size(points.vertex[i])];
      rows += points.weight[i] * model.basis.middleRows<3>(3 * points.vertex[i]);
    }
    surface.rest_positions.push_back(place);
    surface.basis.middleRows<3>(3 * (before + k)) = rows;
  }
}

/// The surface of the plan, whose vertices are points of parts.
DomainSurface shown_points(const TreePlan& plan, std::span<const Index> places, const DomainModel& model) {
  DomainSurface surface = plan.surface;
  const auto shift = [&](Index& domain, Index& vertex) {
    domain = places[to_size(domain)];
    const Index part = model.domains[to_size(domain)].part;
    const std::optional<PartPoints>& points = plan.parts[to_size(part)].points;
    if (points) vertex += model.parts[to_size(part)].surface.vertex_count() - points->count();
  };
  for (std::size_t k = 0; k < surface.domain.size(); ++k) shift(surface.domain[k], surface.vertex[k]);
  for (auto& seam : surface.seams) {
    shift(seam[0], seam[1]);
    shift(seam[2], seam[3]);
  }
  return surface;
}

/// Where the children of each part hang, where that is said by vertices.
std::vector<std::vector<InterfaceLoad>> loads_of(const TreePlan& plan) {
  std::vector<std::vector<InterfaceLoad>> loads(plan.parts.size());
  for (const DomainPlan& domain : plan.domains) {
    constexpr std::size_t fewest = 3;  // hang() says what is wrong with fewer
    if (domain.interface.size() < fewest || domain.parent < 0 || to_size(domain.parent) >= plan.domains.size())
      continue;
    const auto part = to_size(plan.domains[to_size(domain.parent)].part);
    if (part >= plan.parts.size()) continue;
    InterfaceLoad load{domain.interface, domain.interface_weights};
    if (load.weights.size() != load.vertices.size()) load.weights.assign(load.vertices.size(), 1.0);
    loads[part].push_back(std::move(load));
  }
  for (const ClosurePlan& closure : plan.closures)
    for (const ClosurePlan::Side* side : {&closure.first, &closure.second})
      if (side->domain >= 0 && side->vertices.size() >= 3)
        loads[to_size(plan.domains[to_size(side->domain)].part)].push_back({side->vertices, closure.weights});
  return loads;
}

/// Where a part closes loops.
std::vector<Index> closed_vertices(const TreePlan& plan, Index part) {
  std::vector<Index> vertices;
  for (const ClosurePlan& closure : plan.closures)
    for (const ClosurePlan::Side* side : {&closure.first, &closure.second})
      if (side->domain >= 0 && plan.domains[to_size(side->domain)].part == part)
        vertices.insert(vertices.end(), side->vertices.begin(), side->vertices.end());
  return vertices;
}

/// On which domain of the model one of the plan hangs.
Result<DomainInterface> hang(const DomainModel& model, const DomainPlan& plan, Index on) {
  const Domain& parent = model.domains[to_size(on)];
  const SubspaceModel& part = model.parts[to_size(parent.part)];
  if (!plan.interface.empty()) return fit_interface(part, plan.interface, plan.interface_weights);
  const Vec3 place = parent.rotation.transpose() * (plan.position - parent.position) / parent.scale;
  return attach_at(part, place, plan.reach / parent.scale);
}

/// `places`: of the plan's domains so far, in the model.
Result<Domain> place_domain(const DomainModel& model, const DomainPlan& plan, std::span<const Index> places) {
  const std::size_t index = places.size();
  const std::string name = fmt::format("domain {} (\"{}\")", index, model.part_names[to_size(plan.part)]);
  if (!(plan.scale > 0) || !std::isfinite(plan.scale))
    return input_error(fmt::format("{} has a scale of {:g}; scales are above zero", name, plan.scale));
  if (!(plan.frequency > 0) || !std::isfinite(plan.frequency))
    return input_error(fmt::format("{} has a frequency factor of {:g}; it must be above zero", name, plan.frequency));
  if ((plan.parent < 0) != (index == 0) || plan.parent >= static_cast<Index>(index))
    return input_error(fmt::format("{} must come after its parent, and only the first has none", name));
  Domain domain;
  domain.part = plan.part;
  domain.parent = index == 0 ? -1 : places[to_size(plan.parent)];
  domain.scale = plan.scale;
  domain.stiffness = plan.frequency * plan.frequency;
  domain.rotation = plan.rotation;
  domain.position = plan.position;
  if (index == 0) return domain;
  Result<DomainInterface> face = hang(model, plan, domain.parent);
  if (!face.ok()) return Error{face.error().kind, fmt::format("{}: {}", name, face.error().message)};
  domain.interface = std::move(*face);
  const Domain& parent = model.domains[to_size(domain.parent)];
  // The child's origin is the centroid, wherever it was said to be.
  domain.position = parent.position + parent.scale * parent.rotation * domain.interface.centre;
  return domain;
}

/// Puts a joint between a domain and its parent.
Status add_joint(const JointPlan& joint, Domain& domain, DomainBuild& out) {
  const std::string name = fmt::format("joint of {}", out.model.part_names[to_size(domain.part)]);
  if (!joint.axis.allFinite() || !(joint.axis.norm() > 0))
    return input_error(fmt::format("the {} has no direction; give it an axis that isn't zero", name));
  if (!(joint.stiffness >= 0) || !std::isfinite(joint.stiffness))
    return input_error(fmt::format("the {} has a stiffness of {:g}; it can't be negative", name, joint.stiffness));
  Domain between = domain;
  between.scale = between.stiffness = 1.0;
  between.part = static_cast<Index>(out.model.parts.size());
  out.model.parts.push_back(joint_part(joint));
  out.model.cubature.emplace_back();
  out.model.part_names.push_back(name);
  out.parts.push_back({.size = out.model.parts.back().size()});
  domain.parent = out.model.domain_count();
  domain.interface = joint_interface(joint.kind, between.rotation.transpose() * joint.axis);
  out.model.domains.push_back(std::move(between));
  return {};
}

constexpr const char* site_name = "end of a loop";

/// How far the vertices of a closure are from their middle, in the mean.
double radius_of(const ClosurePlan& closure, const DomainModel& model, const Domain& site) {
  const Domain& parent = model.domains[to_size(site.parent)];
  const SubspaceModel& part = model.parts[to_size(parent.part)];
  double sum = 0, square = 0;
  for (std::size_t k = 0; k < closure.first.vertices.size(); ++k) {
    const Vec3 arm = part.rest_positions[to_size(closure.first.vertices[k])] - site.interface.centre;
    square += closure.weights[k] * arm.squaredNorm();
    sum += closure.weights[k];
  }
  return parent.scale * std::sqrt(square / sum);
}

/// A place on a domain that a closure holds. Returns where it is in the model.
Result<Index> add_site(const ClosurePlan& closure, const ClosurePlan::Side& side, std::span<const Index> places,
                       DomainModel& model) {
  Domain site;
  site.parent = places[to_size(side.domain)];
  const Domain& parent = model.domains[to_size(site.parent)];
  Result<DomainInterface> face = fit_interface(model.part_of(site.parent), side.vertices, closure.weights);
  if (!face.ok())
    return Error{face.error().kind, fmt::format("where \"{}\" closes a loop: {}",
                                                model.part_names[to_size(parent.part)], face.error().message)};
  site.interface = std::move(*face);
  site.position = parent.position + parent.scale * parent.rotation * site.interface.centre;
  const auto is_site = std::find(model.part_names.begin(), model.part_names.end(), site_name);
  site.part = static_cast<Index>(is_site - model.part_names.begin());
  if (is_site == model.part_names.end()) {
    model.parts.push_back(site_part());
    model.part_names.emplace_back(site_name);
    model.cubature.emplace_back();
  }
  model.domains.push_back(std::move(site));
  return model.domain_count() - 1;
}

Status close_loops(const TreePlan& plan, std::span<const Index> places, DomainModel& model) {
  for (const ClosurePlan& closure : plan.closures) {
    const Result<Index> first = add_site(closure, closure.first, places, model);
    SUPPLE_RETURN_IF_ERROR(first);
    DomainClosure made{.first = *first};
    if (closure.second.domain >= 0) {
      const Result<Index> second = add_site(closure, closure.second, places, model);
      SUPPLE_RETURN_IF_ERROR(second);
      made.second = *second;
    }
    if (!(closure.stiffness >= 0) || !std::isfinite(closure.stiffness))
      return input_error(
          fmt::format("a closed loop has a stiffness of {:g} N/m; it can't be negative", closure.stiffness));
    if (closure.stiffness > 0) made.give = 1 / closure.stiffness;
    if (!closure.turns) made.radius = radius_of(closure, model, model.domains[to_size(*first)]);
    model.closures.push_back(made);
  }
  return {};
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
  if (plan.points) add_points(*plan.points, *model);
  report.size = model->size();
  report.seconds = seconds_since(start);
  return model;
}

Result<DomainBuild> build_domains(const TreePlan& plan, Progress& progress) {
  const auto start = Clock::now();
  DomainBuild out;
  if (plan.domains.empty()) return input_error("there are no domains to build; name at least one part");
  const std::vector<std::vector<InterfaceLoad>> loads = loads_of(plan);
  for (std::size_t p = 0; p < plan.parts.size(); ++p) {
    PartPlan part = plan.parts[p];
    part.loads = loads[p];
    part.closed = closed_vertices(plan, static_cast<Index>(p));
    progress.stage(fmt::format("reducing {}", part.name));
    Result<SubspaceModel> model = reduce_part(part, out.parts.emplace_back(), progress);
    SUPPLE_RETURN_IF_ERROR(model);
    out.model.cubature.push_back(choose_points(part, *model, out.parts.back(), progress));
    out.model.parts.push_back(std::move(*model));
    out.model.part_names.push_back(part.name);
  }
  std::vector<Index> places;
  for (std::size_t d = 0; d < plan.domains.size(); ++d) {
    if (plan.domains[d].part < 0 || to_size(plan.domains[d].part) >= plan.parts.size())
      return input_error(fmt::format("domain {} is a copy of part {}, which isn't there", d, plan.domains[d].part));
    Result<Domain> domain = place_domain(out.model, plan.domains[d], places);
    SUPPLE_RETURN_IF_ERROR(domain);
    if (const JointPlan& joint = plan.domains[d].joint; d > 0 && joint.kind != JointKind::fixed)
      SUPPLE_RETURN_IF_ERROR(add_joint(joint, *domain, out));
    places.push_back(out.model.domain_count());
    out.model.domains.push_back(std::move(*domain));
  }
  const std::size_t parts = out.model.parts.size();
  SUPPLE_RETURN_IF_ERROR(close_loops(plan, places, out.model));
  out.parts.resize(out.parts.size() + out.model.parts.size() - parts);
  out.model.surface = shown_points(plan, places, out.model);
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
