// SPDX-License-Identifier: Apache-2.0
#include "ambient_occlusion.h"

#include "shaders.h"

#include <algorithm>
#include <optional>

namespace supple {
namespace {

/// Shading of this kind is soft: pictures that are larger get it from fewer pixels.
constexpr int most_pixels = 640;

/// A texture of one size that can be drawn into, read pixel by pixel or between them.
class Layer {
 public:
  Layer(const GlApi& gl, int width, int height, GLint format, GLenum kind, GLint between)
      : gl_(gl), texture_(gl), frame_(gl) {
    gl.BindTexture(GL_TEXTURE_2D, texture_.name());
    gl.TexImage2D(GL_TEXTURE_2D, 0, format, width, height, 0, kind, GL_FLOAT, nullptr);
    for (const GLenum name : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER})
      gl.TexParameteri(GL_TEXTURE_2D, name, between);
    for (const GLenum name : {GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T})
      gl.TexParameteri(GL_TEXTURE_2D, name, GL_CLAMP_TO_EDGE);
    draw_into();
    gl.FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture_.name(), 0);
  }
  void draw_into() const { gl_.BindFramebuffer(GL_FRAMEBUFFER, frame_.name()); }
  void bind(GLenum unit) const {
    gl_.ActiveTexture(unit);
    gl_.BindTexture(GL_TEXTURE_2D, texture_.name());
  }
  GLuint name() const { return texture_.name(); }

 private:
  const GlApi& gl_;
  GlTexture texture_;
  GlFramebuffer frame_;
};

/// What belongs to one size of pictures.
struct Layers {
  int width, height;
  Layer surface;         // normal, and distance along the camera's axis; 0: nothing there
  Layer sharp, blurred;  // share of the light, and the distance again
  GlRenderbuffer depth;

  Layers(const GlApi& gl, int w, int h)
      : width(w),
        height(h),
        surface(gl, w, h, GL_RGBA32F, GL_RGBA, GL_NEAREST),
        sharp(gl, w, h, GL_RG32F, GL_RG, GL_LINEAR),
        blurred(gl, w, h, GL_RG32F, GL_RG, GL_NEAREST),
        depth(gl) {
    gl.BindRenderbuffer(GL_RENDERBUFFER, depth.name());
    gl.RenderbufferStorageMultisample(GL_RENDERBUFFER, 0, GL_DEPTH_COMPONENT24, w, h);
    surface.draw_into();
    gl.FramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, depth.name());
  }
};

Eigen::Vector3f single(const Vec3& v) { return v.cast<float>(); }

}  // namespace

struct AmbientOcclusion::Parts {
  const GlApi& gl;
  GlProgram surface, occlusion, blur;
  GlVertexArray nothing;
  Layer white;
  std::optional<Layers> layers;
  bool computed = false;

  Parts(const GlApi& api, std::vector<GlProgram>& programs)
      : gl(api),
        surface(std::move(programs[0])),
        occlusion(std::move(programs[1])),
        blur(std::move(programs[2])),
        nothing(api),
        white(api, 1, 1, GL_RG32F, GL_RG, GL_NEAREST) {
    gl.ClearColor(1, 0, 0, 0);
    gl.Clear(GL_COLOR_BUFFER_BIT);
  }

  void draw_surface(const SeenThrough& view, const std::function<void(const GlProgram&)>& draw_meshes) const {
    layers->surface.draw_into();
    gl.Enable(GL_DEPTH_TEST);
    gl.DepthMask(GL_TRUE);
    gl.ClearColor(0, 0, 0, 0);
    gl.Clear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    surface.use();
    surface.set("eye", single(view.eye));
    surface.set("forward", single(view.forward));
    draw_meshes(surface);
    gl.Disable(GL_DEPTH_TEST);
  }
  void draw_occlusion(const SeenThrough& view, double radius) const {
    occlusion.use();
    occlusion.set("surface", 0);
    occlusion.set("forward", single(view.forward));
    occlusion.set("right", single(view.right));
    occlusion.set("up", single(view.up));
    occlusion.set("radius", static_cast<float>(radius));
    cover(layers->surface, layers->sharp);
  }
  void draw_blur(double radius) const {
    blur.use();
    blur.set("source", 0);
    blur.set("reach", static_cast<float>(0.5 * radius));
    blur.set("stride", Eigen::Vector2f(1, 0));
    cover(layers->sharp, layers->blurred);
    blur.set("stride", Eigen::Vector2f(0, 1));
    cover(layers->blurred, layers->sharp);
  }
  void cover(const Layer& from, const Layer& to) const {
    to.draw_into();
    from.bind(GL_TEXTURE0);
    gl.BindVertexArray(nothing.name());
    gl.DrawArrays(GL_TRIANGLES, 0, 3);
  }
};

AmbientOcclusion::AmbientOcclusion(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
AmbientOcclusion::AmbientOcclusion(AmbientOcclusion&&) noexcept = default;
AmbientOcclusion& AmbientOcclusion::operator=(AmbientOcclusion&&) noexcept = default;
AmbientOcclusion::~AmbientOcclusion() = default;

Result<AmbientOcclusion> AmbientOcclusion::create(const GlApi& gl) {
  using namespace shaders;
  std::vector<GlProgram> programs;
  for (const auto& [vertex, fragment] : {std::pair{body_vertex, surface_fragment},
                                         {screen_vertex, occlusion_fragment},
                                         {screen_vertex, occlusion_blur_fragment}}) {
    Result<GlProgram> program = GlProgram::create(gl, vertex, fragment);
    SUPPLE_RETURN_IF_ERROR(program);
    programs.push_back(std::move(*program));
  }
  return AmbientOcclusion(std::make_unique<Parts>(gl, programs));
}

void AmbientOcclusion::compute(int width, int height, const SeenThrough& view, double radius,
                               const std::function<void(const GlProgram& program)>& draw_meshes) {
  const double scale = std::min(1.0, static_cast<double>(most_pixels) / std::max(width, height));
  const int w = std::max(1, static_cast<int>(scale * width)), h = std::max(1, static_cast<int>(scale * height));
  Parts& parts = *parts_;
  if (!parts.layers || parts.layers->width != w || parts.layers->height != h) parts.layers.emplace(parts.gl, w, h);
  parts.gl.Viewport(0, 0, w, h);
  parts.draw_surface(view, draw_meshes);
  parts.draw_occlusion(view, radius);
  parts.draw_blur(radius);
  parts.computed = true;
}

GLuint AmbientOcclusion::texture() const {
  return parts_->computed ? parts_->layers->sharp.name() : parts_->white.name();
}

void AmbientOcclusion::clear() { parts_->computed = false; }

}  // namespace supple
