// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/build_posespace.h"

#include "supple/base/clock.h"
#include "supple/offline/fitting/flesh_frequency.h"
#include "supple/offline/fitting/flesh_stiffness.h"
#include "supple/offline/posespace/known_motion.h"
#include "supple/pipeline/character/rehearsal.h"
#include "supple/pipeline/character/resolve_contacts.h"

#include <algorithm>
#include <numbers>

namespace supple {
namespace {

/// Where nobody has said how many coordinates, one basis for all poses and parts is nearest to the full simulation
/// (measured: docs/theory.md). Materials that change with the pose need bases of their own.
bool wants_one_basis(const Recipe& recipe) {
  return recipe.flesh.size == 0 && recipe.flesh.quality != Quality::draft &&
         recipe.flesh.directions == BasisDirections::rotating && recipe.flesh.poses <= 1;
}
bool has_materials(const ReducePose& pose) { return !pose.materials.empty(); }

constexpr double bearable_left = 0.03;
constexpr int most_coordinates = 400;  ///< as many as a recipe may ask for

/// Several poses and patches store all of their coordinates many times over. Flesh that is driven hard moves in more
/// ways than others: one basis may be larger where it would miss much otherwise (measured: docs/theory.md).
SizeSettings automatic_size(const Recipe& recipe, bool one_basis) {
  const bool several = !one_basis && (recipe.flesh.poses > 1 || !recipe.poses.empty() || recipe.flesh.local);
  switch (recipe.flesh.quality) {
    case Quality::draft:
      return {.left = 0.1, .least = 20, .most = 45};
    case Quality::good:
      if (several) return {.left = 0.02, .least = 45, .most = 100};
      return {.left = 0.02, .least = 120, .most = 200, .bearable = bearable_left, .limit = most_coordinates};
    case Quality::final:
      break;
  }
  if (several) return {.left = 0.01, .least = 100, .most = 200};
  return {.left = 0.01, .least = 200, .most = 320, .bearable = bearable_left, .limit = most_coordinates};
}

ReduceSettings reduce_settings(const Recipe& recipe) {
  ReduceSettings settings;
  settings.material = recipe.material.model;
  settings.frequency.reset();
  settings.size = recipe.flesh.size;
  settings.automatic = automatic_size(recipe, wants_one_basis(recipe));
  settings.directions = recipe.flesh.directions;
  settings.largest_angle = recipe.flesh.angle * std::numbers::pi / 180;
  settings.most_poses = std::max(1, recipe.flesh.poses);
  return settings;
}

RawCharacter without_clip(RawCharacter character, const std::string& name) {
  if (!name.empty()) std::erase_if(character.clips, [&](const Clip& clip) { return clip.name == name; });
  return character;
}

/// Of a body with its final materials, before it is reduced.
Result<double> rehearse(const CharacterSource& source, const EmbeddedBody& body, std::shared_ptr<const Rig> rest,
                        const ReduceSettings& settings, int coordinates, Progress& progress) {
  const std::vector<Index> fixed = hold_loose_pieces(body.mesh, body.fixed_vertices);
  if (fixed.size() == body.mesh.vertices.size()) return 1;
  const Result<ElasticBody> elastic = ElasticBody::create(body.mesh, settings.material);
  SUPPLE_RETURN_IF_ERROR(elastic);
  const Result<double> frequency = flesh_frequency(*elastic, fixed);
  SUPPLE_RETURN_IF_ERROR(frequency);
  return rehearsed_exaggeration(source,
                                {.mesh = body.mesh,
                                 .material = settings.material,
                                 .fixed = fixed,
                                 .rest = std::move(rest),
                                 .frequency = *frequency,
                                 .most_acceleration = settings.most_acceleration,
                                 .extent = body.extent()},
                                body.embedding, std::clamp(2 * coordinates, 90, 180), progress);
}

constexpr int least_modes = 4;

void count_modes(const Recipe& recipe, const EmbeddedBody& body, const VecX& compliance, std::vector<Patch>& patches) {
  const std::vector<double> importance = patch_importance(body.mesh, body.fixed_vertices, patches, compliance);
  std::vector<double> open;
  const int size = recipe.flesh.size > 0 ? recipe.flesh.size : automatic_size(recipe, false).least;
  int left = size;
  for (std::size_t k = 0; k < patches.size(); ++k) {
    patches[k].modes = k < recipe.locals.size() ? recipe.locals[k].modes : 0;
    left -= patches[k].modes;
    if (patches[k].modes == 0) open.push_back(importance[k]);
  }
  const int shared = std::max(left, least_modes * static_cast<int>(open.size()));
  const std::vector<int> modes = share_modes(open, open.size() == patches.size() ? size : shared, least_modes);
  auto next = modes.begin();
  for (Patch& patch : patches)
    if (patch.modes == 0) patch.modes = *next++;
}

}  // namespace

std::vector<ReducePose> recipe_poses(const CharacterSource& source, const CharacterBody& body, const TetMesh& tuned,
                                     int most) {
  std::vector<ReducePose> result;
  for (DistinctPose& pose : distinct_poses(source, most))
    result.push_back({std::move(pose.p), materials_in_pose(body, tuned, pose.pose), source.poses[pose.pose].name});
  return result;
}

std::vector<PatchHandle> recipe_handles(const Recipe& recipe, const RawCharacter& character, const CharacterRig& rig,
                                        const EmbeddedBody& body) {
  if (recipe.locals.empty()) return automatic_handles(character, rig, body);
  std::vector<JointGroup> groups;
  for (const RecipeLocal& local : recipe.locals) {
    JointGroup& group = groups.emplace_back();
    group.name = local.name;
    for (const std::string& name : local.joints) group.joints.push_back(find_joint(rig.skeleton(), name));
  }
  std::vector<PatchHandle> handles = handles_of_groups(rig, body, groups);
  for (std::size_t k = 0; k < handles.size(); ++k) {
    const RecipeLocal& local = recipe.locals[k];
    handles[k].points.insert(handles[k].points.end(), local.points.begin(), local.points.end());
    handles[k].segments.insert(handles[k].segments.end(), local.segments.begin(), local.segments.end());
  }
  return handles;
}

Result<Patches> recipe_patches(const Recipe& recipe, const RawCharacter& character, const CharacterRig& rig,
                               const EmbeddedBody& body, const VecX& compliance) {
  Result<Patches> made = make_patches(body.mesh, recipe_handles(recipe, character, rig, body));
  if (made.ok()) count_modes(recipe, body, compliance, made->patches);
  return made;
}

Result<ReducedBody> reduce_character(const Recipe& recipe, const CharacterSource& source, const CharacterBody& body,
                                     Progress& progress, StageStore& store, std::shared_ptr<const Rig> rest,
                                     const std::string& unseen, const CubatureCounts& counts) {
  constexpr int all = 1000;
  const CharacterRig& rig = source.rig;
  ReduceSettings settings = reduce_settings(recipe);
  settings.cubature_elements = counts.elements;
  settings.cubature_vertices = counts.vertices;
  if (!rest) {
    rest = carry_rig(rig.rig(), body.body.carry, body.body.mesh.vertices);
    if (recipe.flesh.fit) settings.surface = rig.rig();
  }
  settings.store = &store;
  MotionToLearn learnt{.coordinates = settings.size > 0 ? settings.size : settings.automatic.most};
  if (recipe.flesh.quality == Quality::draft)
    learnt.coordinates /= 2;  // steps that are learnt from take most of its time
  for (DistinctPose& pose : distinct_poses(source, all)) learnt.poses.push_back(std::move(pose.p));
  KnownMotion motion = known_motion(source.character, rig, *rest, body.body.mesh, learnt);
  EmbeddedBody tuned = body.body;
  if (tunes_stiffness(recipe) && !body.file_materials) {
    progress.stage("tuning the stiffness");
    SUPPLE_RETURN_IF_ERROR(set_flesh_stiffness(tuned.mesh, tuned.fixed_vertices, settings.material,
                                               wanted_frequency(recipe), body.base.young));
  }
  const Result<double> bearable =
      bearable_acceleration(tuned.mesh, tuned.fixed_vertices, settings.material, bearable_share(recipe));
  SUPPLE_RETURN_IF_ERROR(bearable);
  settings.most_acceleration = *bearable;
  const Result<double> exaggeration = rehearse(source, tuned, rest, settings, learnt.coordinates, progress);
  SUPPLE_RETURN_IF_ERROR(exaggeration);
  settings.exaggeration = *exaggeration;
  const RawCharacter shown = without_clip(source.character, unseen);
  learnt.vigour = vigour_of(motion);
  if (!unseen.empty()) motion = known_motion(shown, rig, *rest, body.body.mesh, learnt);
  settings.poses = recipe_poses(source, body, tuned.mesh, recipe.flesh.poses > 0 ? recipe.flesh.poses - 1 : all);
  settings.candidates = clip_poses(shown, rig);
  settings.one_basis =
      wants_one_basis(recipe) && std::none_of(settings.poses.begin(), settings.poses.end(), has_materials);
  // What touches in one pose doesn't touch in others: one basis for all of them can't hold it.
  const bool several = !settings.one_basis && (recipe.flesh.poses > 1 || !settings.poses.empty());
  if (recipe.flesh.contact && several) settings.contact = SelfContactSettings{};
  settings.automatic = automatic_size(recipe, settings.one_basis);
  if (recipe.flesh.local && !settings.one_basis) {
    progress.stage("finding patches");
    Result<Patches> patches = recipe_patches(recipe, source.character, rig, tuned);
    SUPPLE_RETURN_IF_ERROR(patches);
    settings.patches = std::move(patches->patches);
  }
  return reduce_body(tuned, rest, motion, settings, progress);
}

Result<BuiltCharacter> build_character(const Recipe& recipe, const std::filesystem::path& folder, Progress& progress,
                                       StageStore& store) {
  const auto start = Clock::now();
  progress.stage("reading the character");
  Result<CharacterSource> source = load_source(recipe, folder);
  SUPPLE_RETURN_IF_ERROR(source);
  const double read = seconds_since(start);
  Result<BuiltCharacter> built = build_character(std::move(*source), progress, store);
  if (built.ok()) built->seconds.read = read;
  return built;
}

Result<BuiltCharacter> build_character(CharacterSource source, Progress& progress, StageStore& store) {
  BuildSeconds seconds;
  auto start = Clock::now();
  if (source.recipe.flesh.contact) {
    Result<CharacterSource> apart = with_contacts_resolved(std::move(source), {}, progress);
    SUPPLE_RETURN_IF_ERROR(apart);
    source = std::move(*apart);
  }
  Result<CharacterBody> body = make_body(source, progress, store);
  SUPPLE_RETURN_IF_ERROR(body);
  seconds.embed = seconds_since(start);

  start = Clock::now();
  Result<ReducedBody> reduced = reduce_character(source.recipe, source, *body, progress, store);
  SUPPLE_RETURN_IF_ERROR(reduced);
  seconds.reduce = seconds_since(start);
  return BuiltCharacter{std::move(source), std::move(*body), std::move(*reduced), seconds};
}

}  // namespace supple
