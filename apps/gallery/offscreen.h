// SPDX-License-Identifier: Apache-2.0
// Pictures through OpenGL without a window or a screen: an EGL context without a surface, on a graphics card or on
// Mesa's software driver, whichever EGL finds.
#pragma once

#include "supple/io/image/image.h"
#include "surface_renderer.h"

#include <memory>

namespace supple {

struct PictureSettings {
  int width = 640;
  int height = 480;
  int oversampling = 2;  ///< per axis, besides the four samples that each of these has
};

class Offscreen {
 public:
  /// Makes the context current on this thread. Error (the machine's fault, said in a sentence) where there is no EGL.
  static Result<Offscreen> create();
  Offscreen(Offscreen&&) noexcept;
  Offscreen& operator=(Offscreen&&) noexcept;
  ~Offscreen();

  /// The driver's own name, such as "llvmpipe (LLVM 15.0.6, 256 bits)".
  std::string driver() const;
  Result<Image> picture(const DrawSetup& setup, const PictureSettings& settings);

 private:
  struct Parts;
  explicit Offscreen(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace supple
