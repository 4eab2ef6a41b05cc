// SPDX-License-Identifier: Apache-2.0
#include "supple/io/deflate.h"

#include "supple/base/assert.h"

#include <zlib.h>

namespace supple {

std::string deflate(std::string_view bytes, int level) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string compressed(size, '\0');
  const int code = compress2(reinterpret_cast<Bytef*>(compressed.data()), &size,
                             reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uLong>(bytes.size()), level);
  SUPPLE_ASSERT(code == Z_OK);  // the output is large enough, so only lack of memory could fail
  if (code != Z_OK) return {};
  compressed.resize(size);
  return compressed;
}

}  // namespace supple
