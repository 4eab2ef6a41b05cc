// SPDX-License-Identifier: Apache-2.0
#include "surface_renderer.h"

#include "ambient_occlusion.h"
#include "gl_objects.h"
#include "shaders.h"

#include <Eigen/Geometry>

#include <map>
#include <numbers>

namespace supple {
namespace {

using Matrix4 = Eigen::Matrix4f;
using Vector3 = Eigen::Vector3f;

constexpr int shadow_size = 1536, floor_size = 256;
constexpr std::size_t most_textures = 32;  // kept from one picture to the next

// ---- views ----------------------------------------------------------------------------------------------------------

struct Axes {
  Vec3 right, up, forward;
};

Axes axes_of(const Camera& camera) {
  const Vec3 forward = (camera.target - camera.eye).normalized();
  const Vec3 right = forward.cross(camera.up).normalized();
  return {right, right.cross(forward), forward};
}

Matrix4 world_to(const Axes& axes, const Vec3& origin) {
  Eigen::Matrix4d m = Eigen::Matrix4d::Identity();
  m.block<1, 3>(0, 0) = axes.right.transpose();
  m.block<1, 3>(1, 0) = axes.up.transpose();
  m.block<1, 3>(2, 0) = -axes.forward.transpose();
  m.block<3, 1>(0, 3) = -(m.block<3, 3>(0, 0) * origin);
  return m.cast<float>();
}

/// OpenGL's perspective: x and y over −z, depth from −1 to 1.
Matrix4 perspective(double half_height, double aspect, double near, double far) {
  Eigen::Matrix4d m = Eigen::Matrix4d::Zero();
  m(0, 0) = 1 / (half_height * aspect);
  m(1, 1) = 1 / half_height;
  m(2, 2) = (near + far) / (near - far);
  m(2, 3) = 2 * near * far / (near - far);
  m(3, 2) = -1;
  return m.cast<float>();
}

/// A box of half size `half` around `center`, seen along the axes.
Matrix4 orthographic(const Axes& axes, const Vec3& center, double half) {
  Matrix4 m = world_to(axes, center);
  m.topRows<3>() /= static_cast<float>(half);
  m.row(2) = -m.row(2);
  return m;
}

double tangent(const Camera& camera) { return std::tan(0.5 * camera.field_of_view * std::numbers::pi / 180); }

// ---- what was sent to the driver ------------------------------------------------------------------------------------

struct GpuVertex {
  Vector3 position, normal, color;
  Eigen::Vector2f texcoord;
};

struct GpuMesh {
  explicit GpuMesh(const GlApi& gl) : array(gl), vertices(gl), indices(gl) {}
  GlVertexArray array;
  GlBuffer vertices, indices;
  GLsizei count = 0;
  std::shared_ptr<const Image> texture;
  float alpha_cutoff = 0;
};

std::vector<GpuVertex> gpu_vertices(const DrawMesh& mesh, const Vec3& origin) {
  std::vector<GpuVertex> vertices(mesh.positions.size());
  for (std::size_t v = 0; v < vertices.size(); ++v) {
    const Eigen::Vector2f uv = mesh.texcoords.empty() ? Eigen::Vector2f(0, 0) : mesh.texcoords[v];
    vertices[v] = {(mesh.positions[v] - origin).cast<float>(), mesh.normals[v].cast<float>(), mesh.colors[v], uv};
  }
  return vertices;
}

GpuMesh upload(const GlApi& gl, const DrawMesh& mesh, const Vec3& origin) {
  GpuMesh result(gl);
  const std::vector<GpuVertex> vertices = gpu_vertices(mesh, origin);
  gl.BindVertexArray(result.array.name());
  gl.BindBuffer(GL_ARRAY_BUFFER, result.vertices.name());
  gl.BufferData(GL_ARRAY_BUFFER, static_cast<GLsizeiptr>(vertices.size() * sizeof(GpuVertex)), vertices.data(),
                GL_STATIC_DRAW);
  gl.BindBuffer(GL_ELEMENT_ARRAY_BUFFER, result.indices.name());
  static_assert(sizeof(Triangle) == 12);
  gl.BufferData(GL_ELEMENT_ARRAY_BUFFER, static_cast<GLsizeiptr>(mesh.triangles.size() * sizeof(Triangle)),
                mesh.triangles.data(), GL_STATIC_DRAW);
  const auto attribute = [&](GLuint slot, GLint width, std::size_t offset) {
    gl.EnableVertexAttribArray(slot);
    gl.VertexAttribPointer(slot, width, GL_FLOAT, GL_FALSE, sizeof(GpuVertex), reinterpret_cast<const void*>(offset));
  };
  attribute(0, 3, offsetof(GpuVertex, position));
  attribute(1, 3, offsetof(GpuVertex, normal));
  attribute(2, 3, offsetof(GpuVertex, color));
  attribute(3, 2, offsetof(GpuVertex, texcoord));
  result.count = static_cast<GLsizei>(3 * mesh.triangles.size());
  result.texture = mesh.texcoords.empty() ? nullptr : mesh.texture;
  result.alpha_cutoff = static_cast<float>(mesh.alpha_cutoff);
  return result;
}

void filter(const GlApi& gl, GLint smaller, GLint larger, GLint wrap) {
  gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, smaller);
  gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, larger);
  gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, wrap);
  gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, wrap);
}

GlTexture upload(const GlApi& gl, const Image& image) {
  GlTexture texture(gl);
  gl.BindTexture(GL_TEXTURE_2D, texture.name());
  gl.TexImage2D(GL_TEXTURE_2D, 0, GL_SRGB8_ALPHA8, image.width, image.height, 0, GL_RGBA, GL_UNSIGNED_BYTE,
                image.rgba.data());
  gl.GenerateMipmap(GL_TEXTURE_2D);
  filter(gl, GL_LINEAR_MIPMAP_LINEAR, GL_LINEAR, GL_REPEAT);
  return texture;
}

/// A square texture that can be drawn into.
struct Target {
  GlTexture texture;
  GlFramebuffer frame;

  Target(const GlApi& gl, GLint format, GLenum kind, GLenum attachment, int size) : texture(gl), frame(gl) {
    gl.BindTexture(GL_TEXTURE_2D, texture.name());
    gl.TexImage2D(GL_TEXTURE_2D, 0, format, size, size, 0, kind, GL_FLOAT, nullptr);
    filter(gl, GL_LINEAR, GL_LINEAR, GL_CLAMP_TO_EDGE);
    gl.BindFramebuffer(GL_FRAMEBUFFER, frame.name());
    gl.FramebufferTexture2D(GL_FRAMEBUFFER, attachment, GL_TEXTURE_2D, texture.name(), 0);
    if (attachment == GL_DEPTH_ATTACHMENT) make_shadow_map(gl);
  }

 private:
  // Lookups compare depths; what lies outside the map is lit.
  static void make_shadow_map(const GlApi& gl) {
    gl.DrawBuffer(GL_NONE);
    gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
    gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_BORDER);
    gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_BORDER);
    const GLfloat lit[] = {1, 1, 1, 1};
    gl.TexParameterfv(GL_TEXTURE_2D, GL_TEXTURE_BORDER_COLOR, lit);
  }
};

/// What all passes of one picture share; positions relative to the camera's target.
struct Frame {
  Axes axes;
  Vec3 eye, center, key, fill;  // key and fill: unit vectors towards the lights
  double half = 1;              // the bodies lie in a ball of this radius around `center`
  double floor = 0;
  std::vector<GpuMesh> meshes;
};

/// From the world to the picture, with depths for what lies on the stage.
Matrix4 view_projection(const DrawSetup& setup, const Frame& frame, double aspect) {
  const double middle = (frame.center - frame.eye).dot(frame.axes.forward), reach = 1.05 * frame.half;
  const double far = std::max(middle + reach, 1e-6), near = std::max(middle - reach, 1e-3 * far);
  return perspective(tangent(setup.camera), aspect, near, far) * world_to(frame.axes, frame.eye);
}

}  // namespace

struct SurfaceRenderer::Parts {
  const GlApi& gl;
  GlProgram body, depth, contact, floor, blur, backdrop;
  AmbientOcclusion occlusion;
  Target shadow, floor_map, spare;
  GlVertexArray nothing;
  GlTexture white;
  std::map<std::shared_ptr<const Image>, GlTexture> textures;

  Parts(const GlApi& api, std::vector<GlProgram>& programs, AmbientOcclusion ambient_occlusion)
      : gl(api),
        body(std::move(programs[0])),
        depth(std::move(programs[1])),
        contact(std::move(programs[2])),
        floor(std::move(programs[3])),
        blur(std::move(programs[4])),
        backdrop(std::move(programs[5])),
        occlusion(std::move(ambient_occlusion)),
        shadow(api, GL_DEPTH_COMPONENT24, GL_DEPTH_COMPONENT, GL_DEPTH_ATTACHMENT, shadow_size),
        floor_map(api, GL_RG16F, GL_RG, GL_COLOR_ATTACHMENT0, floor_size),
        spare(api, GL_RG16F, GL_RG, GL_COLOR_ATTACHMENT0, floor_size),
        nothing(api),
        white(upload(api, Image(1, 1))) {}

  Frame prepare(const DrawSetup& setup);
  void draw_meshes(const GlProgram& program, const Frame& frame);
  void draw_shadow_map(const Frame& frame);
  void draw_contact(const Frame& frame);
  void draw_floor_map(const Frame& frame);
  void draw_screen(const Target& from, const Target& to) const;
  void set_floor(const GlProgram& program, const Frame& frame) const;
  void set_light(const GlProgram& program, const Frame& frame) const;
  void draw_backdrop(const DrawSetup& setup, const Frame& frame, double aspect);
  void draw_occlusion(const DrawSetup& setup, const Frame& frame, int width, int height);
  void draw_bodies(const DrawSetup& setup, const Frame& frame, int width, int height);

  Matrix4 light_projection(const Frame& frame) const {
    const Vec3 right = frame.key.cross(Vec3::UnitY()).normalized();
    return orthographic({right, right.cross(-frame.key), -frame.key}, frame.center, frame.half);
  }
  void bind(GLenum unit, GLuint texture) const {
    gl.ActiveTexture(unit);
    gl.BindTexture(GL_TEXTURE_2D, texture);
  }
};

Frame SurfaceRenderer::Parts::prepare(const DrawSetup& setup) {
  Frame frame;
  const Vec3& origin = setup.camera.target;
  frame.axes = axes_of(setup.camera);
  frame.eye = setup.camera.eye - origin;
  // They move with the camera, so that every picture is lit from the upper left.
  frame.key = (-0.45 * frame.axes.right + 0.75 * frame.axes.up - 0.55 * frame.axes.forward).normalized();
  frame.fill = (0.80 * frame.axes.right + 0.05 * frame.axes.up - 0.60 * frame.axes.forward).normalized();
  if (textures.size() > most_textures) textures.clear();
  Bounds bounds;
  for (const DrawMesh& mesh : setup.meshes) {
    for (const Vec3& p : mesh.positions) bounds.add(p - origin);
    if (!mesh.positions.empty() && !mesh.triangles.empty()) frame.meshes.push_back(upload(gl, mesh, origin));
    if (mesh.texture && !textures.contains(mesh.texture)) textures.emplace(mesh.texture, upload(gl, *mesh.texture));
  }
  if (setup.stage) {
    bounds.add(setup.stage->min - origin);
    bounds.add(setup.stage->max - origin);
  }
  frame.center = bounds.center();
  frame.half = std::max(0.5 * bounds.diagonal(), 1e-6);
  frame.floor = setup.floor_height.value_or(0) - origin.y();
  return frame;
}

void SurfaceRenderer::Parts::draw_meshes(const GlProgram& program, const Frame& frame) {
  program.set("base", 0);
  for (const GpuMesh& mesh : frame.meshes) {
    bind(GL_TEXTURE0, !mesh.texture ? white.name() : textures.at(mesh.texture).name());
    program.set("alpha_cutoff", mesh.alpha_cutoff);
    gl.BindVertexArray(mesh.array.name());
    gl.DrawElements(GL_TRIANGLES, mesh.count, GL_UNSIGNED_INT, nullptr);
  }
}

void SurfaceRenderer::Parts::draw_shadow_map(const Frame& frame) {
  gl.BindFramebuffer(GL_FRAMEBUFFER, shadow.frame.name());
  gl.Viewport(0, 0, shadow_size, shadow_size);
  gl.Enable(GL_DEPTH_TEST);
  gl.DepthMask(GL_TRUE);
  gl.Clear(GL_DEPTH_BUFFER_BIT);
  gl.Enable(GL_POLYGON_OFFSET_FILL);
  gl.PolygonOffset(2.0f, 4.0f);
  depth.use();
  depth.set("view_projection", light_projection(frame));
  draw_meshes(depth, frame);
  gl.Disable(GL_POLYGON_OFFSET_FILL);
}

void SurfaceRenderer::Parts::draw_contact(const Frame& frame) {
  gl.BindFramebuffer(GL_FRAMEBUFFER, spare.frame.name());
  gl.ClearColor(0, 0, 0, 0);
  gl.Clear(GL_COLOR_BUFFER_BIT);
  gl.Enable(GL_BLEND);
  gl.BlendEquation(GL_MAX);
  contact.use();
  // From above: x to the right, z up, as the backdrop looks it up.
  const Axes above{Vec3::UnitX(), Vec3::UnitZ(), Vec3::UnitY()};
  contact.set("view_projection", orthographic(above, frame.center, 2 * frame.half));
  contact.set("floor_height", static_cast<float>(frame.floor));
  contact.set("reach", static_cast<float>(0.16 * frame.half));
  draw_meshes(contact, frame);
  gl.Disable(GL_BLEND);
}

/// Runs the program in use over all of a target.
void SurfaceRenderer::Parts::draw_screen(const Target& from, const Target& to) const {
  gl.BindFramebuffer(GL_FRAMEBUFFER, to.frame.name());
  bind(GL_TEXTURE0, from.texture.name());
  gl.BindVertexArray(nothing.name());
  gl.DrawArrays(GL_TRIANGLES, 0, 3);
}

void SurfaceRenderer::Parts::draw_floor_map(const Frame& frame) {
  gl.Viewport(0, 0, floor_size, floor_size);
  gl.Disable(GL_DEPTH_TEST);
  draw_contact(frame);
  floor.use();
  set_light(floor, frame);
  set_floor(floor, frame);
  floor.set("contact", 0);
  draw_screen(spare, floor_map);
  blur.use();
  blur.set("source", 0);
  const float step = 1.0f / floor_size;
  blur.set("stride", Eigen::Vector2f(step, 0));
  draw_screen(floor_map, spare);
  blur.set("stride", Eigen::Vector2f(0, step));
  draw_screen(spare, floor_map);
}

void SurfaceRenderer::Parts::set_floor(const GlProgram& program, const Frame& frame) const {
  program.set("floor_center", Vector3(Vec3(frame.center.x(), frame.floor, frame.center.z()).cast<float>()));
  program.set("floor_half", static_cast<float>(2 * frame.half));
}

void SurfaceRenderer::Parts::set_light(const GlProgram& program, const Frame& frame) const {
  bind(GL_TEXTURE1, shadow.texture.name());
  program.set("shadow_map", 1);
  program.set("light_projection", light_projection(frame));
  program.set("shadow_texel", 1.0f / shadow_size);
  program.set("eye", Vector3(frame.eye.cast<float>()));
}

void SurfaceRenderer::Parts::draw_backdrop(const DrawSetup& setup, const Frame& frame, double aspect) {
  gl.Disable(GL_DEPTH_TEST);
  backdrop.use();
  set_floor(backdrop, frame);
  bind(GL_TEXTURE0, floor_map.texture.name());
  backdrop.set("floor_map", 0);
  backdrop.set("eye", Vector3(frame.eye.cast<float>()));
  backdrop.set("top", Vector3(to_linear(setup.background_top)));
  backdrop.set("bottom", Vector3(to_linear(setup.background_bottom)));
  const double t = tangent(setup.camera);
  backdrop.set("forward", Vector3(frame.axes.forward.cast<float>()));
  backdrop.set("right", Vector3((t * aspect * frame.axes.right).cast<float>()));
  backdrop.set("up", Vector3((t * frame.axes.up).cast<float>()));
  backdrop.set("with_floor", setup.floor_height ? 1 : 0);
  gl.BindVertexArray(nothing.name());
  gl.DrawArrays(GL_TRIANGLES, 0, 3);
}

void SurfaceRenderer::Parts::draw_occlusion(const DrawSetup& setup, const Frame& frame, int width, int height) {
  occlusion.clear();
  if (setup.occlusion_radius <= 0) return;
  const double aspect = static_cast<double>(width) / height, t = tangent(setup.camera);
  const SeenThrough view{frame.eye, frame.axes.forward, t * aspect * frame.axes.right, t * frame.axes.up};
  occlusion.compute(width, height, view, setup.occlusion_radius * frame.half, [&](const GlProgram& program) {
    program.set("view_projection", view_projection(setup, frame, aspect));
    draw_meshes(program, frame);
  });
}

void SurfaceRenderer::Parts::draw_bodies(const DrawSetup& setup, const Frame& frame, int width, int height) {
  gl.Enable(GL_DEPTH_TEST);
  body.use();
  set_light(body, frame);
  bind(GL_TEXTURE2, occlusion.texture());
  body.set("occlusion", 2);
  body.set("pixel", Eigen::Vector2f(1.0f / static_cast<float>(width), 1.0f / static_cast<float>(height)));
  body.set("view_projection", view_projection(setup, frame, static_cast<double>(width) / height));
  body.set("key", Vector3(frame.key.cast<float>()));
  body.set("fill", Vector3(frame.fill.cast<float>()));
  body.set("gloss", static_cast<float>(setup.gloss));
  body.set("shadow_step", static_cast<float>(3 * 2 * frame.half / shadow_size));
  draw_meshes(body, frame);
}

SurfaceRenderer::SurfaceRenderer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
SurfaceRenderer::SurfaceRenderer(SurfaceRenderer&&) noexcept = default;
SurfaceRenderer& SurfaceRenderer::operator=(SurfaceRenderer&&) noexcept = default;
SurfaceRenderer::~SurfaceRenderer() = default;

Result<SurfaceRenderer> SurfaceRenderer::create(const GlApi& gl) {
  using namespace shaders;
  const std::array<std::array<const char*, 2>, 6> sources = {{{body_vertex, body_fragment},
                                                              {body_vertex, depth_fragment},
                                                              {body_vertex, contact_fragment},
                                                              {screen_vertex, floor_fragment},
                                                              {screen_vertex, blur_fragment},
                                                              {screen_vertex, backdrop_fragment}}};
  std::vector<GlProgram> programs;
  for (const auto& [vertex, fragment] : sources) {
    Result<GlProgram> program = GlProgram::create(gl, vertex, fragment);
    SUPPLE_RETURN_IF_ERROR(program);
    programs.push_back(std::move(*program));
  }
  Result<AmbientOcclusion> occlusion = AmbientOcclusion::create(gl);
  SUPPLE_RETURN_IF_ERROR(occlusion);
  return SurfaceRenderer(std::make_unique<Parts>(gl, programs, std::move(*occlusion)));
}

void SurfaceRenderer::draw(const DrawSetup& setup, GLuint framebuffer, int width, int height) {
  const GlApi& gl = parts_->gl;
  const Frame frame = parts_->prepare(setup);
  gl.Disable(GL_FRAMEBUFFER_SRGB);
  parts_->draw_shadow_map(frame);
  if (setup.floor_height) parts_->draw_floor_map(frame);
  parts_->draw_occlusion(setup, frame, width, height);
  gl.BindFramebuffer(GL_FRAMEBUFFER, framebuffer);
  gl.Viewport(0, 0, width, height);
  gl.Enable(GL_FRAMEBUFFER_SRGB);
  gl.Enable(GL_MULTISAMPLE);
  gl.DepthMask(GL_TRUE);
  gl.Clear(GL_DEPTH_BUFFER_BIT);
  const double aspect = static_cast<double>(width) / height;
  parts_->draw_backdrop(setup, frame, aspect);
  parts_->draw_bodies(setup, frame, width, height);
}

}  // namespace supple
