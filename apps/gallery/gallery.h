// SPDX-License-Identifier: Apache-2.0
// The sheet that an artist looks at: for every character rigid | soft | soft in the colours of its displacement, at the
// moment of its clips at which the displacement is largest.
#pragma once

#include "comparison.h"
#include "offscreen.h"
#include "supple/pictures/contact_sheet.h"

#include <functional>

namespace supple {

/// One character of the sheet. Where `soft` doesn't exist the row says so.
struct GalleryPair {
  std::string name;
  std::filesystem::path rigid, soft;
};

struct GallerySettings {
  int width = 264, height = 228;  ///< of each picture
  int characters_per_row = 2;
  double moments_per_second = 15;  ///< of each clip, looked at for the largest displacement
  std::string title = "Rigid, soft, and how far apart";
};

/// What the sheet shows about a character.
struct GalleryRow {
  std::string name, clip;
  double time = 0;
  double largest = 0;  ///< displacement as a part of the height
  std::string fault;   ///< instead: why there is nothing to see
};

struct Gallery {
  Image sheet;
  std::vector<GalleryRow> rows;
};

/// A list of pairs: a line for each, with tabs between name, rigid file and soft file.
Result<std::vector<GalleryPair>> read_pairs(const std::filesystem::path& file);

/// Faults of single characters go into their rows. `tell` is called with each row when it is done.
Result<Gallery> make_gallery(Offscreen& offscreen, const std::vector<GalleryPair>& pairs,
                             const GallerySettings& settings, const std::function<void(const GalleryRow&)>& tell);

/// Glb and gltf files below a folder that have a skin and clips, sorted. Files of clips alone, which carry no more than
/// a triangle or so to be legal, are left out.
std::vector<std::filesystem::path> animated_characters(const std::filesystem::path& folder);

/// The end of the colour scale: a round share of the height that holds the largest displacement.
double scale_end(double largest);
/// Colours of displacements, the last of the scale for those of `full` and more.
std::vector<Color> displacement_colors(const std::vector<double>& distances, double full);
/// Draws the scale from 0 to `end`, as a share of the height, along the right edge of the picture.
void draw_color_bar(Image& image, double end);

/// A camera for pictures of a size that shows all points from ahead, a little from the side and above.
Camera character_camera(const std::vector<Vec3>& points, int width, int height,
                        const Vec3& from = Vec3(0.7, 0.32, 1.0));

}  // namespace supple
