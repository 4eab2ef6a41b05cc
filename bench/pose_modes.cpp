// SPDX-License-Identifier: Apache-2.0
// Table 1 of the 2016 paper: 20 modes of a posed character, free of contact and under it, by all methods.
#include "bench/report.h"

#include "scenes/creatures.h"
#include "supple/base/clock.h"
#include "supple/base/parallel.h"
#include "supple/io/gltf/write_character.h"
#include "supple/offline/contact/self_contact.h"
#include "supple/offline/modes/constrained_modes.h"
#include "supple/pipeline/recipe_character.h"
#include "supple/rig/carried_rig.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace supple::bench {
namespace {


constexpr int mode_count = 20;

/// The paper's row; `pose`: of ours, one that presses flesh against flesh.
struct Published {
  const char* name;
  const char* pose;
  int constraints;
  double unconstrained, thresholded, conjugate_gradients;  // [s]
};
constexpr Published table1[] = {{"arm", "elbow_bent", 54, 0.9, 1.2, 2.6},
                                {"bear", "hind_bent", 73, 1.9, 2.2, 7.3},
                                {"gorilla", "crouched", 114, 1.7, 2.4, 6.2}};

struct PosedCharacter {
  ElasticBody body;
  std::vector<Index> fixed;
  SparseConstraints contacts;
  Index found = 0;  ///< contacts in all, within the default tolerance
};

/// As many sliding contacts as in the paper, the closest first; the tolerance grows until there are enough.
Result<SparseConstraints> closest_contacts(const TetMesh& mesh, std::span<const Vec3> x, int count) {
  std::vector<SelfContact> contacts;
  for (SelfContactSettings settings; settings.tolerance < 8; settings.tolerance *= 1.5) {
    Result<std::vector<SelfContact>> found = find_self_contacts(mesh, x, settings);
    if (!found.ok()) return found.error();
    contacts = std::move(*found);
    if (std::ssize(contacts) >= count) break;
  }
  std::stable_sort(contacts.begin(), contacts.end(),
                   [](const SelfContact& a, const SelfContact& b) { return a.gap < b.gap; });
  contacts.resize(std::min(contacts.size(), static_cast<std::size_t>(count)));
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
  const Result<RecipeCharacter> prepared = prepare_character(recipe, "");
  if (!prepared.ok()) return prepared.error();
  Result<CharacterRig> rig = recipe_rig(recipe, *prepared);
  if (!rig.ok()) return rig.error();
  const Result<RecipeBody> body = embed_recipe(recipe, "", *prepared, *rig);
  if (!body.ok()) return body.error();
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
  CharacterPose pose = rig->neutral();
  rig->set_joints(prepared->poses.front().locals, pose);
  for (const ParameterGroup& group : rig->rig()->layout().groups)  // the sculpted shape of the pose
    if (group.name.ends_with(fmt::format(".{}", published.pose))) pose.p[static_cast<std::size_t>(group.first)] = 1;
  const CarriedRig carried(rig->rig(), body->body.carry, body->body.mesh.vertices);
  const std::vector<Vec3> x = evaluate_all(carried, pose.p);
  const Result<ElasticBody> neutral = ElasticBody::create(body->body.mesh, MaterialModel::stvk);
  if (!neutral.ok()) return neutral.error();
  Result<SparseConstraints> contacts = closest_contacts(body->body.mesh, x, published.constraints);
  if (!contacts.ok()) return contacts.error();
  const Result<std::vector<SelfContact>> found = find_self_contacts(body->body.mesh, x);
  VecX positions(neutral->dof_count());
  for (std::size_t v = 0; v < x.size(); ++v) positions.segment<3>(3 * static_cast<Eigen::Index>(v)) = x[v];
  return PosedCharacter{neutral->posed(positions), body->body.fixed_vertices, std::move(*contacts),
                        found.ok() ? static_cast<Index>(found->size()) : 0};
}

struct Timed {
  double seconds = 0;
  Modes modes;
  Index constraints = 0;
};

/// The fastest of a few runs: assembly, factorisation and iteration.
Result<Timed> timed_modes(const ModeProblem& problem, ConstraintMethod method, int repetitions) {
  Timed best;
  for (int k = 0; k < repetitions; ++k) {
    const auto start = Clock::now();
    const Result<ConstrainedBody> body = ConstrainedBody::create(problem, method);
    if (!body.ok()) return body.error();
    Result<Modes> modes = body->modes({.count = mode_count});
    if (!modes.ok()) return modes.error();
    const double seconds = seconds_since(start);
    if (k == 0 || seconds < best.seconds) best = {seconds, std::move(*modes), body->constraint_count()};
  }
  return best;
}

Status add_character(Report& report, const Published& published, const Options& options) {
  const Result<PosedCharacter> posed = make_posed(published, options);
  if (!posed.ok()) return posed.error();
  const auto add = [&](const char* metric, double value, const char* unit, std::optional<double> paper,
                       std::optional<double> target = {}) {
    report.add({.table = "pose/table1",
                .row = published.name,
                .metric = metric,
                .value = value,
                .unit = unit,
                .paper = paper,
                .target = target});
  };
  const int repetitions = options.quick ? 1 : 3;
  const ModeProblem free{posed->body, posed->fixed, {}, {}}, held{posed->body, posed->fixed, {}, posed->contacts};
  const Result<Timed> uncons = timed_modes(free, ConstraintMethod::bordered, repetitions);
  if (!uncons.ok()) return uncons.error();
  const Result<Timed> bordered = timed_modes(held, ConstraintMethod::bordered, repetitions);
  if (!bordered.ok()) return bordered.error();
  add("dof", static_cast<double>(posed->body.dof_count()), "", {});
  add("contacts_found", posed->found, "", {});
  add("constraints", bordered->constraints, "", published.constraints);
  add("uncons_s", uncons->seconds, "s", published.unconstrained);
  add("cons_bordered_s", bordered->seconds, "s", {}, 1.3 * uncons->seconds);
  add("cons_bordered_ratio", bordered->seconds / uncons->seconds, "", published.thresholded / published.unconstrained,
      1.3);
  const std::tuple<const char*, ConstraintMethod, double> others[] = {
      {"cons_thresh_s", ConstraintMethod::null_space, published.thresholded},
      {"cons_cg_s", ConstraintMethod::null_space_cg, published.conjugate_gradients}};
  for (const auto& [metric, method, paper] : others) {
    const Result<Timed> other = timed_modes(held, method, repetitions);
    if (!other.ok()) return other.error();
    add(metric, other->seconds, "s", paper);
    const VecX difference = other->modes.eigenvalues - bordered->modes.eigenvalues;
    add(fmt::format("{}_eigenvalue_difference", std::string(metric).substr(0, std::string(metric).size() - 2)).c_str(),
        difference.cwiseQuotient(bordered->modes.eigenvalues).cwiseAbs().maxCoeff(), "", {}, 1e-6);
  }
  add("largest_violation",
      (posed->contacts * bordered->modes.shapes).cwiseAbs().maxCoeff() / bordered->modes.shapes.cwiseAbs().maxCoeff(),
      "", {}, 1e-10);
  return {};
}

}  // namespace

void add_pose_modes(Report& report, const Options& options) {
  for (const Published& published : table1) {
    const Status status = add_character(report, published, options);
    if (!status.ok())
      report.add({.table = "pose/table1",
                  .row = published.name,
                  .metric = "cons_bordered_s",
                  .unit = "s",
                  .error = status.error().message});
  }
}

}  // namespace supple::bench
