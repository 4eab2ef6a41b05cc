// SPDX-License-Identifier: Apache-2.0
// Table 1 of the 2016 paper: 20 modes of a posed character, free of contact and under it, by all methods.
#include "bench/report.h"

#include "samples/creatures.h"
#include "supple/base/clock.h"
#include "supple/base/parallel.h"
#include "supple/io/gltf/write_character.h"
#include "supple/offline/contact/self_contact.h"
#include "supple/offline/modes/constrained_modes.h"
#include "supple/pipeline/character/character_body.h"
#include "supple/rig/deform/carried_rig.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace supple::bench {
namespace {

constexpr int mode_count = 20;

/// The paper's row; `pose`: of ours, one that presses flesh against flesh.
struct Published {
  const char* name;
  const char* pose;
  double unknowns;
  int constraints;
  double unconstrained, thresholded, conjugate_gradients;  // [s]
};
constexpr Published table1[] = {{"arm", "elbow_bent", 7092, 54, 0.9, 1.2, 2.6},
                                {"bear", "hind_bent", 12054, 73, 1.9, 2.2, 7.3},
                                {"gorilla", "crouched", 11313, 114, 1.7, 2.4, 6.2}};

struct PosedCharacter {
  ElasticBody body;
  std::vector<Index> fixed;
  SparseConstraints contacts;
  Index found = 0;  ///< contacts in all, within the default tolerance
};

/// As many sliding contacts as in the paper, the closest first; the tolerance grows until there are enough.
Result<SparseConstraints> closest_contacts(const EmbeddedBody& body, std::span<const Vec3> x, int count) {
  const TetMesh& mesh = body.mesh;
  std::vector<char> fixed(mesh.vertices.size(), 0);
  for (const Index v : body.fixed_vertices) fixed[to_size(v)] = 1;
  std::vector<SelfContact> contacts;
  for (SelfContactSettings settings; settings.tolerance < 8; settings.tolerance *= 1.5) {
    Result<std::vector<SelfContact>> found = find_self_contacts(mesh, x, settings);
    SUPPLE_RETURN_IF_ERROR(found);
    contacts = std::move(*found);
    std::erase_if(contacts, [&](const SelfContact& c) { return fixed[to_size(c.vertex)] != 0; });
    if (std::ssize(contacts) >= count) break;
  }
  std::stable_sort(contacts.begin(), contacts.end(),
                   [](const SelfContact& a, const SelfContact& b) { return a.gap < b.gap; });
  contacts.resize(std::min(contacts.size(), to_size(count)));
  return contact_constraints(contacts, static_cast<Index>(mesh.vertices.size()));
}

Result<PosedCharacter> make_posed(const Published& published, const Options& options) {
  const CreatureExample& example = *find_creature_example(published.name);
  const Creature creature = example.make();
  CharacterLook look;
  for (const CreaturePose& pose : creature.poses) look.poses.push_back(pose.pose);
  const std::filesystem::path file = std::filesystem::temp_directory_path() / "supple_bench_table1.glb";
  SUPPLE_RETURN_IF_ERROR(write_character(file, make_character(creature, example.vertices), look));
  Recipe recipe;
  recipe.input = file.string();
  recipe.tets = options.quick ? 4000 : example.tets;
  recipe.poses = {{published.pose, "", 0}};
  const Result<CharacterSource> source = load_source(recipe, "");
  SUPPLE_RETURN_IF_ERROR(source);
  const CharacterRig* rig = &source->rig;
  const Result<CharacterBody> body = make_body(*source);
  SUPPLE_RETURN_IF_ERROR(body);
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
  CharacterPose pose = rig->neutral();
  rig->set_joints(source->poses.front().locals, pose);
  for (const ParameterGroup& group : rig->rig()->layout().groups)  // the sculpted shape of the pose
    if (group.name.ends_with(fmt::format(".{}", published.pose))) pose.p[to_size(group.first)] = 1;
  const CarriedRig carried(rig->rig(), body->body.carry, body->body.mesh.vertices);
  const std::vector<Vec3> x = evaluate_all(carried, pose.p);
  const Result<ElasticBody> neutral = ElasticBody::create(body->body.mesh, MaterialModel::stvk);
  SUPPLE_RETURN_IF_ERROR(neutral);
  Result<SparseConstraints> contacts = closest_contacts(body->body, x, published.constraints);
  SUPPLE_RETURN_IF_ERROR(contacts);
  const Result<std::vector<SelfContact>> found = find_self_contacts(body->body.mesh, x);
  VecX positions(neutral->dof_count());
  for (std::size_t v = 0; v < x.size(); ++v) positions.segment<3>(3 * static_cast<Eigen::Index>(v)) = x[v];
  return PosedCharacter{neutral->posed(positions), body->body.fixed_vertices, std::move(*contacts),
                        found.ok() ? static_cast<Index>(found->size()) : 0};
}

/// One column of the table: the fastest of a few runs of assembly, factorisation and iteration.
struct Column {
  const char* name;
  ConstraintMethod method;
  bool constrained;
  double paper;  ///< [s]; 0: none
  double seconds = std::numeric_limits<double>::infinity();
  Modes modes = {};
  Index constraints = 0;

  Status run(const PosedCharacter& posed) {
    const auto start = Clock::now();
    const Result<ConstrainedBody> body = ConstrainedBody::create(
        {posed.body, posed.fixed, {}, constrained ? posed.contacts : SparseConstraints()}, method);
    SUPPLE_RETURN_IF_ERROR(body);
    Result<Modes> found = body->modes({.count = mode_count});
    SUPPLE_RETURN_IF_ERROR(found);
    seconds = std::min(seconds, seconds_since(start));
    modes = std::move(*found);
    constraints = body->constraint_count();
    return {};
  }
};

Status add_character(Report& report, const Published& published, const Options& options) {
  const Result<PosedCharacter> posed = make_posed(published, options);
  SUPPLE_RETURN_IF_ERROR(posed);
  Column uncons{"uncons", ConstraintMethod::null_space, false, published.unconstrained};
  Column thresh{"cons_thresh", ConstraintMethod::null_space, true, published.thresholded};
  Column cg{"cons_cg", ConstraintMethod::null_space_cg, true, published.conjugate_gradients};
  Column bordered{"cons_bordered", ConstraintMethod::bordered, true, 0};
  const std::array<Column*, 4> columns = {&uncons, &thresh, &cg, &bordered};
  for (int k = 0; k < (options.quick ? 1 : 5); ++k)
    for (Column* column : columns) SUPPLE_RETURN_IF_ERROR(column->run(*posed));

  const auto add = [&](const std::string& metric, double value, const char* unit, std::optional<double> paper,
                       std::optional<double> target = {}) {
    report.add({.table = "pose/table1",
                .row = published.name,
                .metric = metric,
                .value = value,
                .unit = unit,
                .paper = paper,
                .target = target});
  };
  add("dof", static_cast<double>(posed->body.dof_count()), "", published.unknowns);
  add("contacts_found", posed->found, "", {});
  add("constraints", thresh.constraints, "", published.constraints);
  const VecX& expected = bordered.modes.eigenvalues;
  for (const Column* column : columns) {
    add(fmt::format("{}_s", column->name), column->seconds, "s",
        column->paper > 0 ? std::optional(column->paper) : std::nullopt);
    if (!column->constrained || column == &bordered) continue;
    add(fmt::format("{}_eigenvalue_error", column->name),
        (column->modes.eigenvalues - expected).cwiseQuotient(expected).cwiseAbs().maxCoeff(), "", {}, 1e-6);
  }
  add("constrained_over_unconstrained", thresh.seconds / uncons.seconds, "",
      published.thresholded / published.unconstrained, 1.3);
  const MatX& shapes = thresh.modes.shapes;
  add("largest_violation", (posed->contacts * shapes).cwiseAbs().maxCoeff() / shapes.cwiseAbs().maxCoeff(), "", {},
      1e-10);
  return {};
}

}  // namespace

void add_pose_modes(Report& report, const Options& options) {
  for (const Published& published : table1) {
    const Status status = add_character(report, published, options);
    if (!status.ok())
      report.add({.table = "pose/table1",
                  .row = published.name,
                  .metric = "cons_thresh_s",
                  .unit = "s",
                  .error = status.error().message});
  }
}

}  // namespace supple::bench
