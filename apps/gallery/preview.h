// SPDX-License-Identifier: Apache-2.0
// A clip of a character as moving pictures: rigid beside soft, and beside both a map of how far its skin is moved by
// softness at most in that clip.
#pragma once

#include "comparison.h"
#include "offscreen.h"

#include <functional>

namespace supple {

struct PreviewSettings {
  std::string clip;  ///< empty: the one with the largest displacement
  int width = 400;   ///< of each of the pictures
  int height = 400;
  double frame_rate = 25;
  double seconds = 4;  ///< at most
  bool map = true;
};

struct Preview {
  std::vector<Image> frames;
  std::string clip;
  double largest = 0;  ///< displacement in what is shown, as a part of the height
};

/// The camera stands still; a character that travels farther than half its height stays in the middle instead.
Result<Preview> make_preview(Offscreen& offscreen, const Comparison& both, const PreviewSettings& settings,
                             const std::function<void(std::size_t done, std::size_t all)>& tell);

}  // namespace supple
