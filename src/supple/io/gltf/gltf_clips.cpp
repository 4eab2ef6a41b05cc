// SPDX-License-Identifier: Apache-2.0
#include "supple/io/gltf/gltf_clips.h"

#include "supple/io/gltf/gltf_accessor.h"

namespace supple {
namespace {

const char* path_of(ChannelTarget target) {
  switch (target) {
    case ChannelTarget::translation:
      return "translation";
    case ChannelTarget::rotation:
      return "rotation";
    case ChannelTarget::scale:
      return "scale";
    case ChannelTarget::weights:
      break;
  }
  return "weights";
}

const char* shape_of(ChannelTarget target) {
  if (target == ChannelTarget::weights) return "SCALAR";
  return target == ChannelTarget::rotation ? "VEC4" : "VEC3";
}

}  // namespace

const char* interpolation_name(Interpolation interpolation) {
  if (interpolation == Interpolation::step) return "STEP";
  return interpolation == Interpolation::cubic ? "CUBICSPLINE" : "LINEAR";
}

void append_channels(GltfContent& content, GltfJson& animation, std::span<const Channel> channels,
                     std::span<const Index> node_of_joint) {
  std::vector<double> last_times;
  std::size_t input = 0;
  for (const Channel& channel : channels) {
    if (channel.times.empty()) continue;
    if (channel.times != last_times) {  // channels of one clip mostly share their times
      input = append_floats(content, {channel.times.begin(), channel.times.end()}, {"SCALAR", 0, true});
      last_times = channel.times;
    }
    const std::size_t output =
        append_floats(content, {channel.values.begin(), channel.values.end()}, {shape_of(channel.target), 0, false});
    const Index node = node_of_joint.empty() ? channel.joint : node_of_joint[to_size(channel.joint)];
    animation["channels"].push_back(
        {{"sampler", animation["samplers"].size()}, {"target", {{"node", node}, {"path", path_of(channel.target)}}}});
    animation["samplers"].push_back(
        {{"input", input}, {"interpolation", interpolation_name(channel.interpolation)}, {"output", output}});
  }
}

}  // namespace supple
