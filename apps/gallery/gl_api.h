// SPDX-License-Identifier: Apache-2.0
// The functions of OpenGL 3.3 core that we call, fetched by name from whoever made the context: EGL offscreen, a window
// library in a window. One list, so that adding a function is adding a word.
#pragma once

#include "supple/base/result.h"

#include <GL/glcorearb.h>

#include <functional>

namespace supple {

#define SUPPLE_GL_FUNCTIONS(X)                                      \
  X(ACTIVETEXTURE, ActiveTexture)                                   \
  X(ATTACHSHADER, AttachShader)                                     \
  X(BINDBUFFER, BindBuffer)                                         \
  X(BINDFRAMEBUFFER, BindFramebuffer)                               \
  X(BINDRENDERBUFFER, BindRenderbuffer)                             \
  X(BINDTEXTURE, BindTexture)                                       \
  X(BINDVERTEXARRAY, BindVertexArray)                               \
  X(BLENDEQUATION, BlendEquation)                                   \
  X(BLITFRAMEBUFFER, BlitFramebuffer)                               \
  X(BUFFERDATA, BufferData)                                         \
  X(CHECKFRAMEBUFFERSTATUS, CheckFramebufferStatus)                 \
  X(CLEAR, Clear)                                                   \
  X(CLEARCOLOR, ClearColor)                                         \
  X(COMPILESHADER, CompileShader)                                   \
  X(CREATEPROGRAM, CreateProgram)                                   \
  X(CREATESHADER, CreateShader)                                     \
  X(DELETEBUFFERS, DeleteBuffers)                                   \
  X(DELETEFRAMEBUFFERS, DeleteFramebuffers)                         \
  X(DELETEPROGRAM, DeleteProgram)                                   \
  X(DELETERENDERBUFFERS, DeleteRenderbuffers)                       \
  X(DELETESHADER, DeleteShader)                                     \
  X(DELETETEXTURES, DeleteTextures)                                 \
  X(DELETEVERTEXARRAYS, DeleteVertexArrays)                         \
  X(DEPTHMASK, DepthMask)                                           \
  X(DISABLE, Disable)                                               \
  X(DRAWARRAYS, DrawArrays)                                         \
  X(DRAWBUFFER, DrawBuffer)                                         \
  X(DRAWELEMENTS, DrawElements)                                     \
  X(ENABLE, Enable)                                                 \
  X(ENABLEVERTEXATTRIBARRAY, EnableVertexAttribArray)               \
  X(FRAMEBUFFERRENDERBUFFER, FramebufferRenderbuffer)               \
  X(FRAMEBUFFERTEXTURE2D, FramebufferTexture2D)                     \
  X(GENBUFFERS, GenBuffers)                                         \
  X(GENERATEMIPMAP, GenerateMipmap)                                 \
  X(GENFRAMEBUFFERS, GenFramebuffers)                               \
  X(GENRENDERBUFFERS, GenRenderbuffers)                             \
  X(GENTEXTURES, GenTextures)                                       \
  X(GENVERTEXARRAYS, GenVertexArrays)                               \
  X(GETERROR, GetError)                                             \
  X(GETINTEGERV, GetIntegerv)                                       \
  X(GETPROGRAMINFOLOG, GetProgramInfoLog)                           \
  X(GETPROGRAMIV, GetProgramiv)                                     \
  X(GETSHADERINFOLOG, GetShaderInfoLog)                             \
  X(GETSHADERIV, GetShaderiv)                                       \
  X(GETSTRING, GetString)                                           \
  X(GETUNIFORMLOCATION, GetUniformLocation)                         \
  X(LINKPROGRAM, LinkProgram)                                       \
  X(PIXELSTOREI, PixelStorei)                                       \
  X(POLYGONOFFSET, PolygonOffset)                                   \
  X(READPIXELS, ReadPixels)                                         \
  X(RENDERBUFFERSTORAGEMULTISAMPLE, RenderbufferStorageMultisample) \
  X(SHADERSOURCE, ShaderSource)                                     \
  X(TEXIMAGE2D, TexImage2D)                                         \
  X(TEXPARAMETERFV, TexParameterfv)                                 \
  X(TEXPARAMETERI, TexParameteri)                                   \
  X(UNIFORM1F, Uniform1f)                                           \
  X(UNIFORM1I, Uniform1i)                                           \
  X(UNIFORM2F, Uniform2f)                                           \
  X(UNIFORM3F, Uniform3f)                                           \
  X(UNIFORMMATRIX4FV, UniformMatrix4fv)                             \
  X(USEPROGRAM, UseProgram)                                         \
  X(VERTEXATTRIBPOINTER, VertexAttribPointer)                       \
  X(VIEWPORT, Viewport)

/// Call as gl.Clear(…).
struct GlApi {
#define SUPPLE_GL_MEMBER(type, name) PFNGL##type##PROC name = nullptr;
  SUPPLE_GL_FUNCTIONS(SUPPLE_GL_MEMBER)
#undef SUPPLE_GL_MEMBER
};

/// Error where the driver lacks one.
Result<GlApi> load_gl(const std::function<void*(const char* name)>& address_of);

}  // namespace supple
