// SPDX-License-Identifier: Apache-2.0
// PNG and JPEG in, for textures.
#pragma once

#include "supple/io/image/image.h"

#include <memory>
#include <string_view>

namespace supple {

/// Nothing where the bytes are no PNG or JPEG, or damaged. Larger pictures than 2048 pixels on a side are halved until
/// they fit.
std::shared_ptr<const Image> decode_image(std::string_view bytes);

}  // namespace supple
