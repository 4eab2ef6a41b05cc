// SPDX-License-Identifier: Apache-2.0
// AmbientOcclusion: how much of the light from all around reaches each pixel of a picture, judged by what else the
// camera sees nearby. Folds, armpits and the gap between two legs become darker, whatever the lamps do.
//
//   A(P) = max(0, 1 − (5 r / r⁶ N) Σᵢ max(0, r² − vᵢ·vᵢ)³ max(0, vᵢ·n − β) / (vᵢ·vᵢ + ε)),  vᵢ = Qᵢ − P
//
// over N points Qᵢ of the surfaces seen within the radius r around P, whose normal is n (McGuire, Mara, Luebke:
// Scalable Ambient Obscurance, 2012, equation 1 and the estimator of its section 2.3). The Qᵢ lie on a spiral that is
// turned at every pixel; a blur that stays within a surface takes the noise of that away.
#pragma once

#include "gl_objects.h"
#include "supple/base/types.h"

#include <functional>
#include <memory>

namespace supple {

/// How a picture is seen: a point at the distance d along `forward`, at x and y from −1 to 1 of the picture, is
/// d (forward + x right + y up) from the eye.
struct SeenThrough {
  Vec3 eye, forward, right, up;
};

class AmbientOcclusion {
 public:
  /// `gl` outlives it; its context is current in all calls, the destructor's too. Error with the compiler's words.
  static Result<AmbientOcclusion> create(const GlApi& gl);
  AmbientOcclusion(AmbientOcclusion&&) noexcept;
  AmbientOcclusion& operator=(AmbientOcclusion&&) noexcept;
  ~AmbientOcclusion();

  /// Computes it for a picture of that size. `draw_meshes` draws the bodies with the program that it is given, which is
  /// in use, and to which it gives nothing but what belongs to each mesh and the matrix `view_projection`.
  void compute(int width, int height, const SeenThrough& view, double radius,
               const std::function<void(const GlProgram& program)>& draw_meshes);

  /// One channel: the share of the light that arrives, over the whole picture. A white pixel after clear().
  GLuint texture() const;
  /// No occlusion anywhere.
  void clear();

 private:
  struct Parts;
  explicit AmbientOcclusion(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace supple
