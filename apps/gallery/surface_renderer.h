// SPDX-License-Identifier: Apache-2.0
// Draws triangle surfaces with OpenGL 3.3 core, into any framebuffer of the current context.
//
// The same light as pictures/render.h, which does without OpenGL: a warm key light from the upper left of the camera, a
// cool fill light and the sky, in linear light. Added: bodies cast soft shadows on themselves and on an invisible
// floor, and darken it where they are near,
//   contact(x, z) = blur of max over what is above the floor at (x, z) of exp(−height / reach),
// and less of the sky reaches folds (ambient_occlusion.h).
#pragma once

#include "gl_api.h"
#include "supple/io/image/color.h"
#include "supple/io/image/image.h"
#include "supple/mesh/bounds.h"
#include "supple/pictures/render.h"

#include <memory>
#include <optional>

namespace supple {

/// Arrays are per vertex. Both sides of a triangle are drawn: soups have no reliable outside.
struct DrawMesh {
  std::vector<Vec3> positions;
  std::vector<Vec3> normals;  ///< unit
  std::vector<Color> colors;  ///< linear
  std::vector<Triangle> triangles;
  std::vector<Eigen::Vector2f> texcoords;  ///< or empty
  std::shared_ptr<const Image> texture;    ///< or none; times the colours
  double alpha_cutoff = 0;
};

struct DrawSetup {
  std::vector<DrawMesh> meshes;
  Camera camera;                       ///< perspective
  std::optional<double> floor_height;  ///< y of the floor that receives shadows
  /// What light and shadow are laid out for, if not just for the meshes: films keep it, so that what is still stays so.
  std::optional<Bounds> stage;
  double gloss = 0.2;
  double occlusion_radius =
      0.2;  ///< of what takes light from the sky, over half the size of what is drawn; 0: nothing does
  Color background_top = hex_color(0xe9e8e5);
  Color background_bottom = hex_color(0xc2c7ce);
};

class SurfaceRenderer {
 public:
  /// `gl` outlives the renderer; its context is current in all calls, the destructor's too.
  static Result<SurfaceRenderer> create(const GlApi& gl);
  SurfaceRenderer(SurfaceRenderer&&) noexcept;
  SurfaceRenderer& operator=(SurfaceRenderer&&) noexcept;
  ~SurfaceRenderer();

  /// The framebuffer stores sRGB; all of it is overwritten.
  void draw(const DrawSetup& setup, GLuint framebuffer, int width, int height);

 private:
  struct Parts;
  explicit SurfaceRenderer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace supple
