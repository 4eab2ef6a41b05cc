// SPDX-License-Identifier: Apache-2.0
#include "supple/io/motion/joint_map.h"

#include <fmt/format.h>

#include "supple/base/nearest_name.h"
#include "supple/io/file.h"
#include "supple/io/text_scanner.h"

namespace supple {
namespace {

std::string_view without_comment(std::string_view line) {
  for (std::size_t k = line.find('#'); k != std::string_view::npos; k = line.find('#', k + 1)) {
    if (k == 0 || line[k - 1] == ' ' || line[k - 1] == '\t') return line.substr(0, k);
  }
  return line;
}

Result<Index> joint_named(const Skeleton& skeleton, std::string_view name, std::string_view whose,
                          const std::string& where) {
  const Index joint = find_joint(skeleton, name);
  if (joint >= 0) return joint;
  std::vector<std::string_view> names;
  for (const Joint& other : skeleton.joints) names.emplace_back(other.name);
  const std::string_view near = nearest_name(name, names);
  return input_error(fmt::format("{}: {} has no joint '{}'; {}", where, whose, name,
                                 near.empty() ? "use one of its names." : fmt::format("did you mean '{}'?", near)));
}

}  // namespace

Result<std::vector<JointPair>> parse_joint_map(std::string_view text, const std::string& name, const Skeleton& source,
                                               const Skeleton& target) {
  std::vector<JointPair> pairs;
  std::vector<bool> driven(target.joints.size(), false);
  for (std::size_t line_number = 1; !text.empty(); ++line_number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(without_comment(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    const std::string where = fmt::format("{}, line {}", name, line_number);
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos)
      return input_error(where + ": a line must read 'joint of the motion = joint of the character'.");
    const Result<Index> from = joint_named(source, trimmed(line.substr(0, equals)), "the motion", where);
    SUPPLE_RETURN_IF_ERROR(from);
    const Result<Index> to = joint_named(target, trimmed(line.substr(equals + 1)), "the character", where);
    SUPPLE_RETURN_IF_ERROR(to);
    if (driven[to_size(*to)])
      return input_error(
          fmt::format("{}: '{}' is driven twice; leave one line out.", where, target.joints[to_size(*to)].name));
    driven[to_size(*to)] = true;
    pairs.push_back({*from, *to});
  }
  if (pairs.empty()) return input_error(name + ": the map holds no pair of joints; add lines 'motion = character'.");
  return pairs;
}

Result<std::vector<JointPair>> load_joint_map(const std::filesystem::path& path, const Skeleton& source,
                                              const Skeleton& target) {
  Result<std::string> text = read_file(path);
  SUPPLE_RETURN_IF_ERROR(text);
  return parse_joint_map(*text, path.string(), source, target);
}

}  // namespace supple
