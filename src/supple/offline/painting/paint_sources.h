// SPDX-License-Identifier: Apache-2.0
// Where paint comes from: attributes of a character's meshes (vertex colours among them), or text files with a number
// for each vertex of the character's file, or for each tetrahedron.
//
// A text file holds numbers separated by blanks or lines; '#' starts a comment and "nan" leaves a vertex unpainted.
// Vertices count as in the character's file, mesh after mesh and primitive after primitive, before welding; where the
// file repeats a vertex along a seam, the mean counts.
#pragma once

#include "supple/base/result.h"
#include "supple/rig/raw_character.h"

#include <filesystem>
#include <span>
#include <string_view>

namespace supple {

/// One number per vertex of the skin (all meshes, one after the other); meshes without the attribute are `unpainted`.
/// `channel` counts from 0. Fails when no mesh has it.
Result<std::vector<double>> paint_from_attribute(const RawCharacter& character, std::string_view attribute,
                                                 int channel = 0);

/// Reads the same numbers from the text of a file.
Result<std::vector<double>> paint_from_text(const RawCharacter& character, std::string_view text,
                                            const std::string& name);
Result<std::vector<double>> load_paint(const RawCharacter& character, const std::filesystem::path& path);

/// Reads one finite number for each of `elements` tetrahedra.
Result<std::vector<double>> load_tet_paint(const std::filesystem::path& path, std::size_t elements);
Result<std::vector<double>> tet_paint_from_text(std::string_view text, const std::string& name, std::size_t elements);

/// How much of every vertex of the skin hangs on the given joints, from 0 to 1 (all meshes, one after the other).
std::vector<double> share_of_joints(const RawCharacter& character, std::span<const Index> joints);

}  // namespace supple
