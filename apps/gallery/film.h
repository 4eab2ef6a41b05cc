// SPDX-License-Identifier: Apache-2.0
// Pictures as a film, in the format that the file's name asks for: an animated PNG, which we write ourselves, or an
// animated WebP or an MP4 (H.264), which ffmpeg writes, a program that is asked for nothing else.
#pragma once

#include "supple/base/result.h"
#include "supple/io/image/image.h"

#include <filesystem>
#include <span>

namespace supple {

/// Before the work: whether the name's ending is one of ours (.png, .webp, .mp4), and where ffmpeg has to write, that
/// it is there.
Status check_film(const std::filesystem::path& path);

/// Opaque pictures of one size, at least one; a single one is a still picture.
Status write_film(const std::filesystem::path& path, std::span<const Image> frames, double frames_per_second);

}  // namespace supple
