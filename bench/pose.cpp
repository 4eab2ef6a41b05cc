// SPDX-License-Identifier: Apache-2.0
// The pose-space system of 2016. Its rigs: what a step asks of one, a few hundred vertices of a large character.
#include "bench/report.h"

#include "supple/rig/character_rig.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace supple::bench {
namespace {

constexpr Index joint_count = 60, rings = 250, sectors = 60;
constexpr double length = 2.0, radius = 0.1;
constexpr std::size_t influences = 4;

/// A snake: vertices hang on the four nearest of its joints.
RawCharacter snake() {
  RawCharacter character;
  character.name = "snake";
  Skin skin;
  const double spacing = length / joint_count;
  for (Index j = 0; j < joint_count; ++j) {
    Joint joint;
    joint.name = fmt::format("joint{}", j);
    joint.parent = j - 1;
    joint.rest.translation = Vec3(0, j == 0 ? 0 : spacing, 0);
    character.skeleton.joints.push_back(joint);
    skin.joints.push_back(j);
    skin.inverse_bind.emplace_back(Eigen::Translation3d(0, -spacing * j, 0));
  }
  character.skins.push_back(skin);
  CharacterMesh& mesh = character.meshes.emplace_back();
  mesh.name = character.name;
  mesh.skin = 0;
  mesh.weights.first.push_back(0);
  for (Index v = 0; v < rings * sectors; ++v) {
    const double y = length * (v / sectors) / (rings - 1), angle = 2 * std::numbers::pi * (v % sectors) / sectors;
    mesh.surface.vertices.emplace_back(radius * std::cos(angle), y, radius * std::sin(angle));
    const Index first =
        std::clamp(static_cast<Index>(y / spacing) - 2, 0, joint_count - static_cast<Index>(influences));
    for (std::size_t k = 0; k < influences; ++k) {
      mesh.weights.joint.push_back(first + static_cast<Index>(k));
      mesh.weights.weight.push_back(1.0 / influences);
    }
    mesh.weights.first.push_back(static_cast<Index>(mesh.weights.joint.size()));
  }
  Clip& clip = character.clips.emplace_back(Clip{"coil", 1.0, {}});
  for (Index j = 0; j < joint_count; ++j) {
    const Quat q(Eigen::AngleAxisd(0.05, Vec3(1, j % 3, 2).normalized()));
    clip.channels.push_back(
        {j, ChannelTarget::rotation, Interpolation::linear, 4, {0, 1}, {0, 0, 0, 1, q.x(), q.y(), q.z(), q.w()}});
  }
  return character;
}

/// Median time of one evaluation of 400 vertices, over many moments of the clip [µs].
double evaluation_us(const Rig& rig, const CharacterRig& character, const Clip& clip, int repetitions) {
  std::vector<Index> vertices;
  for (Index k = 0; k < 400; ++k) vertices.push_back(k * (rings * sectors) / 400);
  std::vector<Vec3> positions(vertices.size());
  const auto workspace = rig.make_workspace(400);
  CharacterPose pose = character.neutral();
  int moment = 0;
  constexpr int batch = 20;  // one alone is near the clock's grain
  return 1e3 / batch * median_ms(repetitions, [&] {
           character.sample(clip, 0.003 * (++moment % 300), ClipWrap::loop, pose);
           for (int k = 0; k < batch; ++k) rig.evaluate(pose.p, vertices, positions, *workspace);
         });
}

std::vector<PoseCorrection> four_corrections(const CharacterRig& rig, const Clip& clip) {
  std::vector<PoseCorrection> corrections;
  CharacterPose pose = rig.neutral();
  for (int k = 1; k <= 4; ++k) {
    rig.sample(clip, 0.2 * k, ClipWrap::hold, pose);
    corrections.push_back({pose.p, std::vector<Vec3>(to_size(rings * sectors), Vec3(0, 0.01, 0))});
  }
  return corrections;
}

void add_rigs(Report& report, const Options& options) {
  const RawCharacter character = snake();
  const Clip& clip = character.clips.front();
  for (const SkinningMethod method : {SkinningMethod::linear, SkinningMethod::dual_quaternion}) {
    CharacterRigSettings settings;
    settings.method = method;
    CharacterRig rig = CharacterRig::create(character, settings).value();
    const std::string name = method == SkinningMethod::linear ? "linear" : "dual_quaternion";
    const auto add = [&](const std::string& row) {
      report.add({.table = "pose/rig",
                  .row = row,
                  .metric = "rig_eval_us",
                  .value = evaluation_us(*rig.rig(), rig, clip, options.quick ? 101 : 501),
                  .unit = "us",
                  .target = 30});
    };
    add(name);
    const Status corrected = rig.correct(four_corrections(rig, clip));
    if (corrected.ok())
      add(name + "+psd");
    else
      report.add(
          {.table = "pose/rig", .row = name + "+psd", .metric = "rig_eval_us", .error = corrected.error().message});
  }
}

}  // namespace

Report run_pose(const Options& options) {
  Report report;
  if (options.wants("rigs")) add_rigs(report, options);
  add_pose_characters(report, options);  // forks: before anything uses more than one thread
  if (options.wants("modes")) add_pose_modes(report, options);
  if (options.wants("mascot")) add_pose_steps(report, options);
  if (options.wants("truth")) add_pose_truth(report, options);
  if (options.wants("contact")) add_pose_contact(report, options);
  return report;
}

}  // namespace supple::bench
