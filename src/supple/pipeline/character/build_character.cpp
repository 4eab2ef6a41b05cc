// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/build_character.h"

#include <fmt/format.h>

#include "supple/base/clock.h"
#include "supple/base/parallel.h"
#include "supple/mesh/bounds.h"
#include "supple/offline/posespace/limit_sway.h"
#include "supple/pipeline/character/recipe_patches.h"
#include "supple/pipeline/character/reduction_poses.h"
#include "supple/rig/motion/clip_motion.h"

#include <algorithm>
#include <numbers>

namespace supple {
namespace {

/// [s]; long enough to see past the corners of keys that are joined by lines.
constexpr double acceleration_step = 1.0 / 60;

/// Moments of the character's clips, a few of each.
struct Moment {
  const Clip* clip;
  double time;
};
std::vector<Moment> typical_moments(const RawCharacter& character, std::size_t most) {
  std::vector<Moment> moments;
  const std::size_t clips = std::min(character.clips.size(), most / 2);
  for (std::size_t c = 0; c < clips; ++c) {
    const Clip& clip = character.clips[c * character.clips.size() / clips];
    const std::size_t count = std::max<std::size_t>(2, most / clips);
    for (std::size_t k = 0; k < count; ++k)
      moments.push_back({&clip, clip.duration * (static_cast<double>(k) + 0.5) / static_cast<double>(count)});
  }
  return moments;
}

std::vector<ReducePose> clip_poses(const RawCharacter& character, const CharacterRig& rig) {
  std::vector<ReducePose> poses;
  CharacterPose pose = rig.neutral();
  for (const Moment& moment : typical_moments(character, 24)) {
    rig.sample(*moment.clip, moment.time, ClipWrap::hold, pose);
    poses.push_back({pose.p, {}, fmt::format("{} at {:.2f} s", moment.clip->name, moment.time)});
  }
  return poses;
}

std::vector<std::vector<double>> typical_poses(const RawCharacter& character, const CharacterRig& rig) {
  std::vector<std::vector<double>> poses;
  for (ReducePose& pose : clip_poses(character, rig)) poses.push_back(std::move(pose.p));
  return poses;
}

/// World acceleration of the rest shape, seen from the turned neighbourhood of each vertex.
VecX local_acceleration(const CharacterRig& rig, const Rig& rest, const TetMesh& mesh, const Moment& moment) {
  constexpr double step = acceleration_step;
  CharacterPose pose = rig.neutral();
  VecX a = VecX::Zero(3 * rest.vertex_count());
  const double time = std::clamp(moment.time, step, std::max(step, moment.clip->duration - step));
  for (const double k : {-1.0, 1.0, 0.0}) {
    rig.sample(*moment.clip, time + k * step, ClipWrap::hold, pose);
    const std::vector<Vec3> x = evaluate_all(rest, pose.p);
    for (std::size_t v = 0; v < x.size(); ++v)
      a.segment<3>(3 * static_cast<Eigen::Index>(v)) += (k == 0 ? -2 : 1) * (pose.placement * x[v]) / (step * step);
  }
  const std::vector<Eigen::Vector4d> turns = vertex_rotations(mesh, evaluate_all(rest, pose.p));
  for (std::size_t v = 0; v < turns.size(); ++v) {
    auto at = a.segment<3>(3 * static_cast<Eigen::Index>(v));
    at = (pose.placement.rotation * unit_quaternion(turns[v].data())).conjugate() * Vec3(at);
  }
  return a;
}

/// Stretches of the clips, the same number of each.
std::vector<Moment> typical_starts(const RawCharacter& character) {
  constexpr std::size_t most = 12, least = 8;
  constexpr double length = MotionRun::length * MotionRun::step;
  std::vector<Moment> starts;
  const std::size_t clips = std::min(character.clips.size(), most);
  for (std::size_t c = 0; c < clips; ++c) {
    const Clip& clip = character.clips[c * character.clips.size() / clips];
    const double room = std::max(0.0, clip.duration - length);
    const std::size_t count = room > 0 ? std::max<std::size_t>(1, least / clips) : 1;
    for (std::size_t k = 0; k < count; ++k)
      starts.push_back({&clip, count > 1 ? room * static_cast<double>(k) / static_cast<double>(count - 1) : room / 2});
  }
  return starts;
}

std::vector<MotionRun> known_runs(const RawCharacter& character, const CharacterRig& rig, const Rig& rest,
                                  const TetMesh& mesh, double height) {
  constexpr double length = MotionRun::length * MotionRun::step;
  std::vector<Moment> starts = typical_starts(character);
  std::erase_if(starts, [&](const Moment& start) {
    return ClipMotion(rig, *start.clip, false, height)
        .is_cut(start.time - acceleration_step, start.time + length + acceleration_step);
  });
  std::vector<MotionRun> runs(starts.size());
  CharacterPose pose = rig.neutral();
  for (std::size_t r = 0; r < runs.size(); ++r) {
    rig.sample(*starts[r].clip, starts[r].time + length / 2, ClipWrap::hold, pose);
    runs[r] = {MatX(3 * rest.vertex_count(), MotionRun::length), pose.p,
               static_cast<int>(starts[r].clip - character.clips.data())};
  }
  parallel_for(std::ssize(runs) * MotionRun::length, 1, [&](std::int64_t i) {
    const auto r = to_size(i / MotionRun::length);
    const std::int64_t k = i % MotionRun::length;
    runs[r].accelerations.col(k) = local_acceleration(
        rig, rest, mesh, {starts[r].clip, starts[r].time + static_cast<double>(k) * MotionRun::step});
  });
  return runs;
}

/// Without those at which a clip puts the character elsewhere: that is no motion, and would outweigh all others.
std::vector<Moment> without_cuts(std::vector<Moment> moments, const CharacterRig& rig, double height) {
  std::erase_if(moments, [&](const Moment& moment) {
    return ClipMotion(rig, *moment.clip, false, height)
        .is_cut(moment.time - 1.5 * acceleration_step, moment.time + 1.5 * acceleration_step);
  });
  return moments;
}

KnownMotion known_motion(const RawCharacter& character, const CharacterRig& rig, const Rig& rest, const TetMesh& mesh) {
  const double height = bounds_of(mesh.vertices).size().maxCoeff();
  const std::vector<Moment> moments = without_cuts(typical_moments(character, 48), rig, height);
  KnownMotion motion{typical_poses(character, rig), MatX(3 * rest.vertex_count(), std::ssize(moments)), {}, {}, {}};
  CharacterPose pose = rig.neutral();
  for (const Moment& moment : moments) {
    rig.sample(*moment.clip, moment.time, ClipWrap::hold, pose);
    motion.moments.push_back(pose.p);
    motion.clips.push_back(static_cast<int>(moment.clip - character.clips.data()));
  }
  parallel_for(std::ssize(moments), 1, [&](std::int64_t k) {
    motion.accelerations.col(k) = local_acceleration(rig, rest, mesh, moments[to_size(k)]);
  });
  motion.runs = known_runs(character, rig, rest, mesh, height);
  return motion;
}

bool paints_young(const Recipe& recipe) {
  return std::any_of(recipe.paints.begin(), recipe.paints.end(),
                     [](const RecipePaint& paint) { return paint.quantity == PaintQuantity::young; });
}

ReduceSettings reduce_settings(const Recipe& recipe) {
  ReduceSettings settings;
  settings.material = recipe.material.model;
  settings.frequency.reset();
  if (!recipe.material.young && !paints_young(recipe)) settings.frequency = recipe.material.frequency;
  settings.size = recipe.flesh.size;
  settings.directions = recipe.flesh.directions;
  settings.largest_angle = recipe.flesh.angle * std::numbers::pi / 180;
  settings.most_poses = std::max(1, recipe.flesh.poses);
  return settings;
}

}  // namespace

Result<ReducedBody> reduce_character(const Recipe& recipe, const RecipeCharacter& prepared, const CharacterRig& rig,
                                     const RecipeBody& body, Progress& progress, StageStore& store,
                                     std::shared_ptr<const Rig> rest) {
  ReduceSettings settings = reduce_settings(recipe);
  if (!rest) {
    rest = carry_rig(rig.rig(), body.body.carry, body.body.mesh.vertices);
    if (recipe.flesh.fit) settings.surface = rig.rig();
  }
  settings.store = &store;
  const KnownMotion motion = known_motion(prepared.character, rig, *rest, body.body.mesh);
  const bool own_poses = !prepared.poses.empty();
  constexpr int all = 1000;
  if (own_poses)
    settings.poses = recipe_poses(prepared, rig, body, recipe.flesh.poses > 0 ? recipe.flesh.poses - 1 : all);
  else
    settings.candidates = clip_poses(prepared.character, rig);
  // In poses of clips limbs may pass through each other; only where somebody made a pose does touching mean touching.
  if (recipe.flesh.contact && own_poses) settings.contact = SelfContactSettings{};
  EmbeddedBody tuned = body.body;
  if (settings.frequency) {
    progress.stage("tuning the stiffness");
    SUPPLE_RETURN_IF_ERROR(
        limit_sway(tuned.mesh, tuned.fixed_vertices, settings.material, *settings.frequency, motion.accelerations));
    settings.frequency.reset();  // the stiffness is what it shall be
  }
  if (recipe.flesh.local) {
    progress.stage("finding patches");
    Result<Patches> patches = recipe_patches(recipe, prepared, rig, tuned);
    SUPPLE_RETURN_IF_ERROR(patches);
    settings.patches = std::move(patches->patches);
  }
  return reduce_body(tuned, rest, motion, settings, progress);
}

Result<BuiltCharacter> build_character(const Recipe& recipe, const std::filesystem::path& folder, Progress& progress,
                                       StageStore& store) {
  auto start = Clock::now();
  BuildSeconds seconds;
  progress.stage("reading the character");
  Result<RecipeCharacter> prepared = prepare_character(recipe, folder);
  SUPPLE_RETURN_IF_ERROR(prepared);
  Result<CharacterRig> rig = recipe_rig(recipe, *prepared);
  SUPPLE_RETURN_IF_ERROR(rig);
  seconds.read = seconds_since(start);

  start = Clock::now();
  Result<RecipeBody> body = embed_recipe(recipe, folder, *prepared, *rig, progress, store);
  SUPPLE_RETURN_IF_ERROR(body);
  seconds.embed = seconds_since(start);

  start = Clock::now();
  Result<ReducedBody> reduced = reduce_character(recipe, *prepared, *rig, *body, progress, store);
  SUPPLE_RETURN_IF_ERROR(reduced);
  seconds.reduce = seconds_since(start);
  return BuiltCharacter{std::move(*prepared), std::move(*rig), std::move(*body), std::move(*reduced), seconds};
}

}  // namespace supple
