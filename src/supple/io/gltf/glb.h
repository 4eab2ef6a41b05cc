// SPDX-License-Identifier: Apache-2.0
// GLB: a self-contained glTF 2.0 file of deforming surfaces that any viewer plays.
//
// A surface carries morph targets (displacements of its vertices); a clip moves their weights over time:
//   position(t) = base + Σ_k weight_k(t) displacement_k.
// Units are metres, y is up, as glTF wants it. Vertices are repeated along creases so that they shade sharp.
#pragma once

#include "supple/base/result.h"
#include "supple/io/image/color.h"
#include "supple/mesh/morph_target.h"
#include "supple/mesh/surface.h"

#include <filesystem>

namespace supple {

struct GlbMaterial {
  Color color = Color(0.8f, 0.8f, 0.8f);  ///< sRGB; multiplies the vertex colours
  double roughness = 0.6;
  double metallic = 0;
  bool double_sided = false;
};

struct GlbObject {
  std::string name;
  Surface surface;
  std::vector<Color> colors;  ///< sRGB, one per vertex, or empty
  GlbMaterial material;
  double crease_degrees = 40;
  std::vector<MorphTarget> targets;
};

/// Weights of one object's morph targets, interpolated linearly between keys.
struct WeightTrack {
  std::size_t object = 0;
  std::vector<double> times;    ///< [s], from 0 upward, strictly ascending
  std::vector<double> weights;  ///< times × targets: all targets of the first key, then of the second, …
};

struct GlbClip {
  std::string name;
  std::vector<WeightTrack> tracks;
};

struct GlbModel {
  std::vector<GlbObject> objects;
  std::vector<GlbClip> clips;  ///< viewers play the first by default
};

/// The bytes of the file, or an error if sizes don't fit together or numbers aren't finite.
Result<std::string> glb_bytes(const GlbModel& model);

Status write_glb(const std::filesystem::path& path, const GlbModel& model);

/// Makes `object` play the given frames (positions of all its vertices) at `frames_per_second`: one morph target per
/// frame after the first, each fully on at its own time. Returns the track; the caller sets `track.object`.
WeightTrack add_frames(GlbObject& object, const std::vector<std::vector<Vec3>>& frames, double frames_per_second);

}  // namespace supple
