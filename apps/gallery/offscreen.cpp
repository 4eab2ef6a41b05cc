// SPDX-License-Identifier: Apache-2.0
#include "offscreen.h"

#include "gl_objects.h"

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace supple {
namespace {

bool listed(const char* extensions, std::string_view name) {
  return extensions != nullptr && std::string_view(extensions).find(name) != std::string_view::npos;
}

bool starts(EGLDisplay display) {
  return display != EGL_NO_DISPLAY && eglInitialize(display, nullptr, nullptr) == EGL_TRUE;
}

// Mesa's platform without a surface first, which needs no hardware; then the devices of other vendors, one by one.
EGLDisplay open_display() {
  const char* extensions = eglQueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
  const auto platform =
      reinterpret_cast<PFNEGLGETPLATFORMDISPLAYEXTPROC>(eglGetProcAddress("eglGetPlatformDisplayEXT"));
  if (platform == nullptr) return EGL_NO_DISPLAY;
  if (listed(extensions, "EGL_MESA_platform_surfaceless")) {
    const EGLDisplay display = platform(EGL_PLATFORM_SURFACELESS_MESA, nullptr, nullptr);
    if (starts(display)) return display;
  }
  const auto query = reinterpret_cast<PFNEGLQUERYDEVICESEXTPROC>(eglGetProcAddress("eglQueryDevicesEXT"));
  std::array<EGLDeviceEXT, 16> devices{};
  EGLint count = 0;
  if (query == nullptr || query(static_cast<EGLint>(devices.size()), devices.data(), &count) != EGL_TRUE) count = 0;
  for (EGLint k = 0; k < count; ++k) {
    const EGLDisplay display = platform(EGL_PLATFORM_DEVICE_EXT, devices[to_size(k)], nullptr);
    if (starts(display)) return display;
  }
  return EGL_NO_DISPLAY;
}

EGLContext open_context(EGLDisplay display) {
  if (eglBindAPI(EGL_OPENGL_API) != EGL_TRUE) return EGL_NO_CONTEXT;
  constexpr std::array<EGLint, 5> wanted = {EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_SURFACE_TYPE, 0, EGL_NONE};
  EGLConfig config = nullptr;
  EGLint count = 0;
  if (eglChooseConfig(display, wanted.data(), &config, 1, &count) != EGL_TRUE || count == 0) return EGL_NO_CONTEXT;
  constexpr std::array<EGLint, 7> version = {
      EGL_CONTEXT_MAJOR_VERSION,           3,       EGL_CONTEXT_MINOR_VERSION, 3, EGL_CONTEXT_OPENGL_PROFILE_MASK,
      EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE};
  return eglCreateContext(display, config, EGL_NO_CONTEXT, version.data());
}

Error no_device(std::string_view what) {
  return input_error(
      fmt::format("OpenGL can't draw without a screen here: {}; install Mesa (Debian: libegl1, libgl1-mesa-dri), whose "
                  "software driver needs no graphics card.",
                  what));
}

struct EglContext {
  EGLDisplay display = EGL_NO_DISPLAY;
  EGLContext context = EGL_NO_CONTEXT;

  EglContext() = default;
  EglContext(const EglContext&) = delete;
  EglContext& operator=(const EglContext&) = delete;
  ~EglContext() {
    if (display == EGL_NO_DISPLAY) return;
    eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    if (context != EGL_NO_CONTEXT) eglDestroyContext(display, context);
    eglTerminate(display);
  }

  Status open() {
    display = open_display();
    if (display == EGL_NO_DISPLAY) return no_device("EGL finds no device");
    context = open_context(display);
    if (context == EGL_NO_CONTEXT) return no_device("EGL has no OpenGL 3.3");
    if (eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context) != EGL_TRUE)
      return no_device("EGL wants a surface");
    return {};
  }
};

constexpr int samples = 4;

// Where the setup is drawn, and where its samples are put together.
class Canvas {
 public:
  Canvas(const GlApi& gl, int width, int height, int samples_per_pixel)
      : gl_(gl), color_(gl), depth_(gl), frame_(gl), width_(width), height_(height) {
    storage(color_, GL_SRGB8_ALPHA8, GL_COLOR_ATTACHMENT0, samples_per_pixel);
    if (samples_per_pixel > 0) storage(depth_, GL_DEPTH_COMPONENT24, GL_DEPTH_ATTACHMENT, samples_per_pixel);
  }
  GLuint name() const { return frame_.name(); }
  bool complete() const {
    gl_.BindFramebuffer(GL_FRAMEBUFFER, name());
    return gl_.CheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
  }
  /// Mean of the samples, or of the pixels where the other is smaller; in linear light, because both are sRGB.
  void copy_to(const Canvas& other) const {
    gl_.BindFramebuffer(GL_READ_FRAMEBUFFER, name());
    gl_.BindFramebuffer(GL_DRAW_FRAMEBUFFER, other.name());
    const GLenum filter = width_ == other.width_ ? GL_NEAREST : GL_LINEAR;
    gl_.BlitFramebuffer(0, 0, width_, height_, 0, 0, other.width_, other.height_, GL_COLOR_BUFFER_BIT, filter);
  }
  /// OpenGL's rows run from the bottom.
  Image read() const {
    Image image(width_, height_);
    std::vector<std::uint8_t> rows(image.rgba.size());
    gl_.BindFramebuffer(GL_READ_FRAMEBUFFER, name());
    gl_.PixelStorei(GL_PACK_ALIGNMENT, 1);
    gl_.ReadPixels(0, 0, width_, height_, GL_RGBA, GL_UNSIGNED_BYTE, rows.data());
    const std::size_t row = std::size_t{4} * to_size(width_);
    for (int y = 0; y < height_; ++y) std::copy_n(rows.data() + row * to_size(height_ - 1 - y), row, image.pixel(0, y));
    for (std::size_t i = 3; i < image.rgba.size(); i += 4) image.rgba[i] = 255;
    return image;
  }

 private:
  void storage(const GlRenderbuffer& buffer, GLenum format, GLenum attachment, int samples_per_pixel) {
    gl_.BindRenderbuffer(GL_RENDERBUFFER, buffer.name());
    gl_.RenderbufferStorageMultisample(GL_RENDERBUFFER, samples_per_pixel, format, width_, height_);
    gl_.BindFramebuffer(GL_FRAMEBUFFER, name());
    gl_.FramebufferRenderbuffer(GL_FRAMEBUFFER, attachment, GL_RENDERBUFFER, buffer.name());
  }

  const GlApi& gl_;
  GlRenderbuffer color_, depth_;
  GlFramebuffer frame_;
  int width_, height_;
};

}  // namespace

struct Offscreen::Parts {
  EglContext egl;  // last to go
  GlApi gl;
  std::optional<SurfaceRenderer> renderer;
};

Offscreen::Offscreen(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Offscreen::Offscreen(Offscreen&&) noexcept = default;
Offscreen& Offscreen::operator=(Offscreen&&) noexcept = default;
Offscreen::~Offscreen() = default;

Result<Offscreen> Offscreen::create() {
  auto parts = std::make_unique<Parts>();
  SUPPLE_RETURN_IF_ERROR(parts->egl.open());
  Result<GlApi> gl = load_gl([](const char* name) { return reinterpret_cast<void*>(eglGetProcAddress(name)); });
  SUPPLE_RETURN_IF_ERROR(gl);
  parts->gl = *gl;
  Result<SurfaceRenderer> renderer = SurfaceRenderer::create(parts->gl);
  SUPPLE_RETURN_IF_ERROR(renderer);
  parts->renderer.emplace(std::move(*renderer));
  return Offscreen(std::move(parts));
}

std::string Offscreen::driver() const {
  const GLubyte* name = parts_->gl.GetString(GL_RENDERER);
  return name == nullptr ? "unknown" : reinterpret_cast<const char*>(name);
}

Result<Image> Offscreen::picture(const DrawSetup& setup, const PictureSettings& settings) {
  const GlApi& gl = parts_->gl;
  const int more = std::clamp(settings.oversampling, 1, 2);  // a linear filter takes the mean of two pixels, no more
  GLint most = 0;
  gl.GetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &most);
  const int width = settings.width, height = settings.height;
  if (width < 1 || height < 1 || more * std::max(width, height) > most)
    return usage_error(
        fmt::format("A picture of {} x {} pixels can't be drawn; the driver allows 1 to {} on each side.", width,
                    height, most / more));
  const Canvas fine(gl, more * width, more * height, samples), resolved(gl, more * width, more * height, 0),
      small(gl, width, height, 0);
  if (!fine.complete() || !resolved.complete() || !small.complete())
    return failure("The OpenGL driver can't draw with four samples per pixel; use Mesa's software driver.");
  parts_->renderer->draw(setup, fine.name(), more * width, more * height);
  fine.copy_to(resolved);
  resolved.copy_to(small);
  if (gl.GetError() != GL_NO_ERROR) return failure("The OpenGL driver reported an error while drawing.");
  return small.read();
}

}  // namespace supple
