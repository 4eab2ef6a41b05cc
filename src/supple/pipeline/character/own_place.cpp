// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/own_place.h"

#include "supple/export/posed_meshes.h"
#include "supple/mesh/bounds.h"

#include <cmath>

namespace supple {
namespace {

constexpr double far = 10;  // times the character's size

/// Values of a key: one, or in-tangent, value and out-tangent, of which only the value is a place.
void move_keys(const Vec3& place, Channel& channel) {
  const std::size_t per_key = channel.interpolation == Interpolation::cubic ? 9 : 3;
  const std::size_t first = per_key == 9 ? 3 : 0;
  for (std::size_t k = 0; k * per_key + first + 3 <= channel.values.size(); ++k)
    for (std::size_t i = 0; i < 3; ++i) channel.values[k * per_key + first + i] -= place[static_cast<Eigen::Index>(i)];
}

}  // namespace

Vec3 far_place(const RawCharacter& character) {
  PosedMeshes meshes(character, {});
  meshes.pose_at_rest();
  std::vector<Vec3> positions(to_size(meshes.vertex_count()));
  meshes.positions(positions);
  if (positions.empty()) return Vec3::Zero();
  const Bounds bounds = bounds_of(positions);
  const double size = bounds.size().maxCoeff();
  if (!(size > 0) || !(bounds.center().norm() > far * size)) return Vec3::Zero();
  // Steps of a power of two: what is subtracted has few digits, so that nothing is rounded that needn't be.
  const double step = std::exp2(std::ceil(std::log2(size)));
  return (bounds.center() / step).array().round().matrix() * step;
}

void bring_home(const Vec3& place, RawCharacter& character) {
  if (place.isZero(0)) return;
  for (Joint& joint : character.skeleton.joints) {
    if (joint.parent >= 0) continue;
    joint.rest.translation -= place;
    if (joint.matrix) joint.matrix->translation() -= place;
  }
  for (Clip& clip : character.clips)
    for (Channel& channel : clip.channels)
      if (channel.target == ChannelTarget::translation && character.skeleton.joints[to_size(channel.joint)].parent < 0)
        move_keys(place, channel);
}

}  // namespace supple
