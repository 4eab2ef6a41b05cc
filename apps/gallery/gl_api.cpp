// SPDX-License-Identifier: Apache-2.0
#include "gl_api.h"

namespace supple {

Result<GlApi> load_gl(const std::function<void*(const char* name)>& address_of) {
  GlApi gl;
#define SUPPLE_GL_LOAD(type, name)                                       \
  gl.name = reinterpret_cast<PFNGL##type##PROC>(address_of("gl" #name)); \
  if (gl.name == nullptr)                                                \
    return input_error("The OpenGL driver has no gl" #name "; one for OpenGL 3.3 is needed, such as Mesa's.");
  SUPPLE_GL_FUNCTIONS(SUPPLE_GL_LOAD)
#undef SUPPLE_GL_LOAD
  return gl;
}

}  // namespace supple
