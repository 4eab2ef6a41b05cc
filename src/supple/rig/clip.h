// SPDX-License-Identifier: Apache-2.0
// Clip: keyframes of joints and of morph weights over time, as glTF defines them.
#pragma once

#include "supple/base/types.h"

#include <string>
#include <vector>

namespace supple {

enum class Interpolation { step, linear, cubic };
enum class ChannelTarget { translation, rotation, scale, weights };

/// One animated quantity. `values` holds `width` numbers per key (3; 4 for rotations as x y z w; one per morph target);
/// cubic: in-tangent, value, out-tangent, so three times as many.
struct Channel {
  Index joint = 0;  ///< of the skeleton; for weights the node that carries the mesh
  ChannelTarget target = ChannelTarget::translation;
  Interpolation interpolation = Interpolation::linear;
  int width = 3;
  std::vector<double> times;  ///< [s], strictly ascending
  std::vector<double> values;
};

struct Clip {
  std::string name;
  double duration = 0.0;  ///< the last key of all channels [s]
  std::vector<Channel> channels;
};

}  // namespace supple
