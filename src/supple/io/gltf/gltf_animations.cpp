// SPDX-License-Identifier: Apache-2.0
#include "supple/io/gltf/gltf_accessor.h"
#include "supple/io/gltf/gltf_nodes.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

// Channels may share arrays; this many keys, each a copy, are no character's.
constexpr std::size_t most_key_numbers = 100'000'000;

struct Faults {
  std::size_t unordered_keys = 0, pointers = 0, sheared = 0, wrong_targets = 0;
  std::size_t numbers_read = 0;  ///< by this clip and those before it
};

std::optional<ChannelTarget> target_of(const std::string& path) {
  if (path == "translation") return ChannelTarget::translation;
  if (path == "rotation") return ChannelTarget::rotation;
  if (path == "scale") return ChannelTarget::scale;
  if (path == "weights") return ChannelTarget::weights;
  return std::nullopt;
}

Interpolation interpolation_of(const GltfJson& sampler, const std::string& where) {
  const std::string name = json_string(sampler, "interpolation", "LINEAR");
  if (name == "LINEAR") return Interpolation::linear;
  if (name == "STEP") return Interpolation::step;
  if (name == "CUBICSPLINE") return Interpolation::cubic;
  gltf_fault("{} has an unknown interpolation; export the file again.", where);
}

bool keys_finite(const std::vector<double>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](double x) { return std::isfinite(x); });
}

// Keys whose time isn't later than that of the one before are left out.
std::size_t drop_unordered_keys(Channel& channel, std::size_t per_key) {
  std::vector<double> times, values;
  for (std::size_t k = 0; k < channel.times.size(); ++k) {
    if (!times.empty() && !(channel.times[k] > times.back())) continue;
    times.push_back(channel.times[k]);
    const auto first = channel.values.begin() + static_cast<std::ptrdiff_t>(k * per_key);
    values.insert(values.end(), first, first + static_cast<std::ptrdiff_t>(per_key));
  }
  const std::size_t dropped = channel.times.size() - times.size();
  if (dropped > 0) {
    channel.times = std::move(times);
    channel.values = std::move(values);
  }
  return dropped;
}

// Fills times and values; false when they don't fit together.
bool read_keys(const GltfContent& content, const GltfJson& sampler, const std::string& where, Channel& channel,
               Faults& faults) {
  channel.times = accessor_numbers(content, require_index(sampler, "input", accessor_count(content), where));
  channel.values = accessor_numbers(content, require_index(sampler, "output", accessor_count(content), where));
  faults.numbers_read += channel.times.size() + channel.values.size();
  if (faults.numbers_read > most_key_numbers) gltf_fault("its clips have too many keys; thin them out.");
  if (!keys_finite(channel.times) || !keys_finite(channel.values))
    gltf_fault("{} has keys that aren't finite numbers; export the file again.", where);
  const std::size_t per_key = to_size(channel.width) * (channel.interpolation == Interpolation::cubic ? 3 : 1);
  if (channel.times.empty() || channel.values.size() != channel.times.size() * per_key) return false;
  faults.unordered_keys += drop_unordered_keys(channel, per_key);
  return true;
}

void read_channel(const GltfContent& content, const GltfJson& json, const GltfJson& samplers, const std::string& where,
                  const Skeleton& skeleton, const JointOfNode& joint_of, const TargetsOfJoint& targets_of, Clip& clip,
                  Faults& faults) {
  const GltfJson& target = json_object(json, "target", where);
  const std::optional<ChannelTarget> quantity = target_of(json_string(target, "path"));
  const std::optional<std::uint64_t> node = json_count(target, "node", where);
  if (!quantity || !node) {
    ++faults.pointers;
    return;
  }
  Channel channel;
  channel.target = *quantity;
  channel.joint = joint_of(to_size(*node));
  if (channel.joint < 0) return;
  if (*quantity != ChannelTarget::weights && skeleton.joints[to_size(channel.joint)].matrix) {
    ++faults.sheared;
    return;
  }
  const GltfJson& sampler = samplers[require_index(json, "sampler", samplers.size(), where)];
  channel.interpolation = interpolation_of(sampler, where);
  channel.width = *quantity == ChannelTarget::rotation ? 4 : 3;
  if (*quantity == ChannelTarget::weights) channel.width = static_cast<int>(targets_of(channel.joint));
  if (channel.width == 0 || !read_keys(content, sampler, where, channel, faults)) {
    ++faults.wrong_targets;
    return;
  }
  clip.duration = std::max(clip.duration, channel.times.back());
  clip.channels.push_back(std::move(channel));
}

void report_keys(const Clip& clip, const Faults& faults, std::vector<std::string>& warnings) {
  const auto say = [&](std::size_t count, std::string_view what) {
    if (count > 0) warnings.push_back(fmt::format("The clip '{}': {} {}.", clip.name, count, what));
  };
  say(faults.unordered_keys, "keys aren't later than the one before and were left out");
  say(faults.pointers, "channels move something other than a node and were left out");
  say(faults.sheared, "channels move a node whose matrix has shear and were left out");
  say(faults.wrong_targets, "channels don't have as many values as they need and were left out");
}

}  // namespace

std::vector<Clip> read_animations(const GltfContent& content, const Skeleton& skeleton, const JointOfNode& joint_of,
                                  const TargetsOfJoint& targets_of, std::vector<std::string>& warnings) {
  const GltfJson& animations = json_array(content.root, "animations");
  std::vector<Clip> clips;
  std::size_t numbers_read = 0;
  for (std::size_t a = 0; a < animations.size(); ++a) {
    const std::string where = fmt::format("animation {}", a);
    Clip clip;
    clip.name = json_string(animations[a], "name", fmt::format("clip_{}", a));
    Faults faults;
    faults.numbers_read = numbers_read;
    const GltfJson& samplers = json_array(animations[a], "samplers", where);
    for (const GltfJson& channel : json_array(animations[a], "channels", where))
      read_channel(content, channel, samplers, where, skeleton, joint_of, targets_of, clip, faults);
    report_keys(clip, faults, warnings);
    numbers_read = faults.numbers_read;
    clips.push_back(std::move(clip));
  }
  return clips;
}

}  // namespace supple
