// SPDX-License-Identifier: Apache-2.0
#include "pose_report.h"

#include <numbers>

namespace supple {
namespace {

double degrees(double angle) { return angle * 180 / std::numbers::pi; }

const std::string& parent_name(const CharacterFacts& facts, const PoseFacts& pose) {
  return facts.poses[to_size(pose.parent)].name;
}

}  // namespace

std::vector<std::string> pose_lines(const CharacterFacts& facts) {
  std::vector<std::string> lines;
  for (const PoseFacts& pose : facts.poses) {
    if (pose.parent < 0) continue;
    std::string line = fmt::format("{}: {:.0f}° from {} ({:.0f}° at most)", pose.name, degrees(pose.angle),
                                   parent_name(facts, pose), degrees(pose.largest_angle));
    if (pose.inverted_before > 0)
      line += fmt::format(", {} of {} inverted elements repaired", pose.inverted_before - pose.inverted,
                          pose.inverted_before);
    lines.push_back(std::move(line));
  }
  return lines;
}

Json poses_json(const CharacterFacts& facts) {
  Json list = Json::array();
  for (const PoseFacts& pose : facts.poses) {
    Json entry = {{"name", pose.name}};
    if (pose.parent >= 0) {
      entry["parent"] = parent_name(facts, pose);
      entry["angle_degrees"] = degrees(pose.angle);
      entry["largest_angle_degrees"] = degrees(pose.largest_angle);
      entry["fit_error"] = pose.fit_error;
      entry["inverted_before_fit"] = pose.inverted_before;
      entry["inverted"] = pose.inverted;
    }
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace supple
