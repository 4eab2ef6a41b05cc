// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/character_state_data.h"

#include "supple/rig/deform/bind_space.h"

#include <Eigen/LU>

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

constexpr double longest_frame = 0.25;  // [s]: what takes longer is a pause

template <class Numbers>
bool all_numbers(const Numbers& values) {
  return std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); });
}

Vec3 vector_of(const std::array<float, 3>& x) { return {x[0], x[1], x[2]}; }

}  // namespace

ShownCharacter::ShownCharacter(const CharacterData& character)
    : q(to_size(character.model().size()), 0.0F), locals(rest_pose(character.drive().rig.skeleton())) {
  const std::size_t vertices = character.all_vertices.size();
  world.resize(locals.size());
  bones.resize(character.drive().skin.bones.size());
  displacement.assign(vertices, Eigen::Vector3f::Zero());
  for (auto* values : {&bind, &position, &normal}) values->assign(vertices, Vec3::Zero());
  const auto count = static_cast<Index>(vertices);
  workspace = character.drive().rig.rig()->make_workspace(count);
  if (!character.drive().played) return;
  played_position.assign(vertices, Vec3::Zero());
  played_p = character.drive().played->rig()->layout().neutral;
  played_workspace = character.drive().played->rig()->make_workspace(count);
}

CharacterStateData::CharacterStateData(const Character& shared, const CharacterSettings& settings,
                                       PoseSpaceDynamics<float> created)
    : character(shared),
      dynamics(std::move(created)),
      clock(settings.time_step),
      steps_per_pose(settings.steps_per_pose),
      history(drive().rig.rig()->layout()),
      on_grid(history.newest()),
      locals(rest_pose(drive().rig.skeleton())),
      pose(drive().rig.neutral()),
      played_pose(drive().engine_rig().neutral()),
      input_world(locals.size()),
      pulls(to_size(std::max(settings.most_pulls, 0))),
      shown(model()) {
  if (!drive().pose_morphs) return;
  held_morphs.assign(drive().pose_morphs->followers().size(), 0);
  morph_scratch.resize(drive().pose_morphs->scratch_size());
}

// ---- in -------------------------------------------------------------------------------------------------------------

void CharacterStateData::set_local(std::size_t joint, const JointTransform& local) {
  if (!all_numbers(local.translation) || !all_numbers(local.rotation) || !all_numbers(local.scale)) return;
  const std::array<double, 4> xyzw = {local.rotation[0], local.rotation[1], local.rotation[2], local.rotation[3]};
  locals[joint].translation = vector_of(local.translation);
  locals[joint].rotation = unit_quaternion(xyzw.data());
  locals[joint].scale = vector_of(local.scale);
}

void CharacterStateData::set_world(std::span<const float> matrices) {
  const Skeleton& skeleton = drive().rig.skeleton();
  if (matrices.size() < 16 * locals.size() || !all_numbers(matrices)) return;
  for (std::size_t j = 0; j < locals.size(); ++j) {
    input_world[j].matrix() = Eigen::Map<const Eigen::Matrix4f>(matrices.data() + 16 * j).topRows<3>().cast<double>();
    const Index parent = skeleton.joints[j].parent;
    if (skeleton.joints[j].matrix) continue;
    const Affine local = parent < 0 ? input_world[j] : input_world[to_size(parent)].inverse() * input_world[j];
    if (local.matrix().allFinite()) locals[j] = decompose(local);
  }
}

/// placement and p of what was set, in the true world.
void CharacterStateData::read_input() {
  std::copy(locals.begin(), locals.end(), shown.locals.begin());
  if (drive().pose_morphs || drive().played) {
    drive().engine_rig().set_joints(locals, drive().played ? played_pose : pose);
    if (drive().pose_morphs) drive().pose_morphs->apply(engine_p(), held_morphs, morph_scratch);
  }
  if (drive().played) std::copy(played_pose.p.begin(), played_pose.p.end(), shown.played_p.begin());
  drive().rig.set_joints(locals, pose);
  pose.placement.translation += origin;
}

// ---- time -----------------------------------------------------------------------------------------------------------

AdvanceReport CharacterStateData::advance(double seconds) {
  AdvanceReport report;
  if (!(seconds >= 0)) return report;
  if (seconds > longest_frame) {
    dynamics.cut();
    history.forget();
    seconds = longest_frame;
  }
  read_input();
  if (seconds > 0)
    history.add(seconds, pose.placement, pose.p);
  else
    history.replace(pose.placement, pose.p);
  forces.surface = std::span(pulls).first(pull_count);
  report.steps = clock.advance_within(seconds);
  // No pose is left with a single step where that can be helped: accelerations of steps that have a path are smoother.
  int poses = std::max(1, report.steps / steps_per_pose);
  for (int left = report.steps; left > 0; --poses) {
    const int steps = (left + poses - 1) / poses;
    left -= steps;
    history.sample(clock.ahead() + left * clock.time_step(), on_grid);
    if (dynamics.step(on_grid.placement, on_grid.p, forces, steps).recovered) report.recovered = true;
  }
  show();
  return report;
}

/// q at the display's time: less than a step beyond the last, carried on as it moves.
void CharacterStateData::show() {
  const auto ahead = static_cast<float>(clock.ahead());
  const auto q = dynamics.coordinates(), v = dynamics.velocities(), a = dynamics.accelerations();
  for (std::size_t c = 0; c < shown.q.size(); ++c) shown.q[c] = q[c] + ahead * (v[c] + 0.5F * ahead * a[c]);
  shown.forget();
}

void CharacterStateData::exchange(StateBytes& bytes) {
  dynamics.exchange(bytes);
  bytes(clock);
  history.exchange(bytes);
  bytes(locals);
  bytes(shown.locals);
  bytes(origin);
  bytes(pose.placement);
  bytes(pose.p);
  bytes(played_pose.placement);
  bytes(played_pose.p);
  bytes(shown.played_p);
  bytes(held_morphs);
  for (Vec3* force : {&forces.gravity, &forces.wind}) bytes(*force);
  bytes(forces.drag);
  bytes(pulls);
  bytes(pull_count);
}

// ---- out ------------------------------------------------------------------------------------------------------------

std::span<const Eigen::Vector3f> CharacterStateData::displacements() {
  if (!shown.has_displacement) {
    const PlacedPose& now = history.newest();
    dynamics.surface_displacements(now.placement, now.p, shown.q, shown.displacement);
    shown.has_displacement = true;
  }
  return shown.displacement;
}

std::span<const Vec3> CharacterStateData::positions() {
  if (shown.has_position) return shown.position;
  const std::span<const Eigen::Vector3f> u = displacements();
  const PlacedPose& now = history.newest();
  drive().rig.rig()->evaluate(now.p, model().all_vertices, shown.position, *shown.workspace);
  RigidTransform place = now.placement;
  place.translation -= origin;
  const Mat3 turn = place.rotation.toRotationMatrix();
  for (std::size_t v = 0; v < u.size(); ++v)
    shown.position[v] = turn * shown.position[v] + place.translation + u[v].cast<double>();
  shown.has_position = true;
  return shown.position;
}

std::span<const Vec3> CharacterStateData::normals() {
  if (shown.has_normal) return shown.normal;
  const std::span<const Vec3> x = positions();
  std::fill(shown.normal.begin(), shown.normal.end(), Vec3::Zero());
  for (const Triangle& t : drive().triangles) {
    const Vec3 &a = x[to_size(t[0])], &b = x[to_size(t[1])], &c = x[to_size(t[2])];
    const Vec3 area = (b - a).cross(c - a);
    for (const Index v : t) shown.normal[to_size(v)] += area;
  }
  for (Vec3& n : shown.normal) {
    const double length = n.norm();
    n = length > 0 ? Vec3(n / length) : Vec3(Vec3::UnitY());
  }
  shown.has_normal = true;
  return shown.normal;
}

std::span<const Vec3> CharacterStateData::bind_displacements() {
  if (shown.has_bind) return shown.bind;
  const SurfaceSkin& skin = drive().skin;
  world_matrices(drive().rig.skeleton(), shown.locals, shown.world);
  find_bone_matrices(skin, shown.world, shown.bones);
  const std::span<const Eigen::Vector3f> u = displacements();
  if (drive().played) {
    const Mat3 played_turn = played_pose.placement.rotation.toRotationMatrix();
    const Vec3 played_place = played_pose.placement.translation;
    drive().played->rig()->evaluate(shown.played_p, model().all_vertices, shown.played_position,
                                    *shown.played_workspace);
    const std::span<const Vec3> x = positions();
    for (std::size_t v = 0; v < u.size(); ++v)
      shown.bind[v] = x[v] - (played_turn * shown.played_position[v] + played_place);
  } else {
    for (std::size_t v = 0; v < u.size(); ++v) shown.bind[v] = u[v].cast<double>();
  }
  for (std::size_t v = 0; v < u.size(); ++v)
    shown.bind[v] = into_bind_space(skin_matrix(skin, shown.bones, v), shown.bind[v], model().bind_scale[v]);
  shown.has_bind = true;
  return shown.bind;
}

}  // namespace supple
