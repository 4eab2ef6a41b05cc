// SPDX-License-Identifier: Apache-2.0
// A clip of a character as moving pictures: rigid beside soft, and beside both a map of how far its skin is moved by
// softness at most in that clip.
#pragma once

#include "comparison.h"
#include "offscreen.h"

#include <functional>
#include <optional>
#include <string>

namespace supple {

struct PreviewSettings {
  std::string clip;  ///< empty: the one with the largest displacement
  int width = 400;   ///< of each of the pictures
  int height = 400;
  double frame_rate = 25;
  double seconds = 4;  ///< at most
  bool map = true;
  std::optional<double> at = {};     ///< a single picture at this time [s]
  Vec3 from = Vec3(0.7, 0.32, 1.0);  ///< where the camera stands, seen from the character
};

/// "front", "side", "back", "three-quarter", or "AZIMUTH,ELEVATION" in degrees: 0,0 is the front, 90,0 the character's
/// left.
Result<Vec3> view_from(const std::string& text);

struct Preview {
  std::vector<Image> frames;
  std::string clip;
  double largest = 0;  ///< displacement in what is shown, as a part of the height
};

/// The camera stands still; a character that travels farther than half its height stays in the middle instead.
Result<Preview> make_preview(Offscreen& offscreen, const Comparison& both, const PreviewSettings& settings,
                             const std::function<void(std::size_t done, std::size_t all)>& tell);

}  // namespace supple
