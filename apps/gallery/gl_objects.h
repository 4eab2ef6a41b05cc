// SPDX-License-Identifier: Apache-2.0
// Objects of OpenGL, owned: what was made is deleted, in the context that is current then.
#pragma once

#include "gl_api.h"

#include <Eigen/Core>

#include <utility>

namespace supple {

/// A name that OpenGL gave; `Kind` knows how to make and delete one.
template <class Kind>
class GlHandle {
 public:
  explicit GlHandle(const GlApi& gl) : gl_(&gl), name_(Kind::make(gl)) {}
  GlHandle(GlHandle&& other) noexcept : gl_(other.gl_), name_(std::exchange(other.name_, 0)) {}
  GlHandle& operator=(GlHandle&& other) noexcept {
    std::swap(gl_, other.gl_);
    std::swap(name_, other.name_);
    return *this;
  }
  ~GlHandle() {
    if (name_ != 0) Kind::free(*gl_, name_);
  }
  GLuint name() const { return name_; }

 private:
  const GlApi* gl_;
  GLuint name_;
};

#define SUPPLE_GL_KIND(Type, Function)                                                \
  struct Type##Kind {                                                                 \
    static GLuint make(const GlApi& gl) {                                             \
      GLuint name = 0;                                                                \
      gl.Gen##Function(1, &name);                                                     \
      return name;                                                                    \
    }                                                                                 \
    static void free(const GlApi& gl, GLuint name) { gl.Delete##Function(1, &name); } \
  };                                                                                  \
  using Type = GlHandle<Type##Kind>;
SUPPLE_GL_KIND(GlBuffer, Buffers)
SUPPLE_GL_KIND(GlTexture, Textures)
SUPPLE_GL_KIND(GlRenderbuffer, Renderbuffers)
SUPPLE_GL_KIND(GlFramebuffer, Framebuffers)
SUPPLE_GL_KIND(GlVertexArray, VertexArrays)
#undef SUPPLE_GL_KIND

/// A vertex and a fragment shader, linked.
class GlProgram {
 public:
  /// Error with the compiler's words.
  static Result<GlProgram> create(const GlApi& gl, const char* vertex_source, const char* fragment_source);

  void use() const { gl_->UseProgram(handle_.name()); }
  // Of the program in use; names that the compiler dropped are ignored.
  void set(const char* name, int value) const { gl_->Uniform1i(at(name), value); }
  void set(const char* name, float value) const { gl_->Uniform1f(at(name), value); }
  void set(const char* name, const Eigen::Vector2f& v) const { gl_->Uniform2f(at(name), v.x(), v.y()); }
  void set(const char* name, const Eigen::Vector3f& v) const { gl_->Uniform3f(at(name), v.x(), v.y(), v.z()); }
  void set(const char* name, const Eigen::Matrix4f& m) const { gl_->UniformMatrix4fv(at(name), 1, GL_FALSE, m.data()); }

 private:
  struct Kind {
    static GLuint make(const GlApi& gl) { return gl.CreateProgram(); }
    static void free(const GlApi& gl, GLuint name) { gl.DeleteProgram(name); }
  };
  explicit GlProgram(const GlApi& gl) : gl_(&gl), handle_(gl) {}
  GLint at(const char* name) const { return gl_->GetUniformLocation(handle_.name(), name); }

  const GlApi* gl_;
  GlHandle<Kind> handle_;
};

}  // namespace supple
