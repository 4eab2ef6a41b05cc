// SPDX-License-Identifier: Apache-2.0
#include "gl_objects.h"

#include <array>

namespace supple {
namespace {

Status attach(const GlApi& gl, GLuint program, GLenum kind, const char* source) {
  const GLuint shader = gl.CreateShader(kind);
  gl.ShaderSource(shader, 1, &source, nullptr);
  gl.CompileShader(shader);
  GLint compiled = GL_FALSE;
  gl.GetShaderiv(shader, GL_COMPILE_STATUS, &compiled);
  std::array<char, 1024> log{};
  gl.GetShaderInfoLog(shader, static_cast<GLsizei>(log.size()), nullptr, log.data());
  gl.AttachShader(program, shader);
  gl.DeleteShader(shader);  // lives on as long as the program
  if (compiled == GL_TRUE) return {};
  return failure(std::string("The OpenGL driver can't compile a shader: ") + log.data());
}

}  // namespace

Result<GlProgram> GlProgram::create(const GlApi& gl, const char* vertex_source, const char* fragment_source) {
  GlProgram program(gl);
  SUPPLE_RETURN_IF_ERROR(attach(gl, program.handle_.name(), GL_VERTEX_SHADER, vertex_source));
  SUPPLE_RETURN_IF_ERROR(attach(gl, program.handle_.name(), GL_FRAGMENT_SHADER, fragment_source));
  gl.LinkProgram(program.handle_.name());
  GLint linked = GL_FALSE;
  gl.GetProgramiv(program.handle_.name(), GL_LINK_STATUS, &linked);
  if (linked == GL_TRUE) return program;
  std::array<char, 1024> log{};
  gl.GetProgramInfoLog(program.handle_.name(), static_cast<GLsizei>(log.size()), nullptr, log.data());
  return failure(std::string("The OpenGL driver can't link a shader: ") + log.data());
}

}  // namespace supple
