// SPDX-License-Identifier: Apache-2.0
// What archives of models with whole meshes have in common: tetrahedra with materials and what is held, the skin that
// hangs on them, and sentences.
#pragma once

#include "supple/asset/archive_reader.h"
#include "supple/asset/whole_mesh_model.h"

#include <array>

namespace supple {

void add_quadruples(ArchiveWriter& writer, const std::string& name, std::span<const std::array<Index, 4>> rows);
/// Reads runs of four that all lie below `limit`.
std::vector<std::array<Index, 4>> read_quadruples(ArchiveReader& reader, const std::string& name, Index limit);
void add_weights(ArchiveWriter& writer, const std::string& name, std::span<const std::array<double, 4>> rows);

Status add_whole_mesh(ArchiveWriter& writer, const WholeMeshModel& model);
void read_whole_mesh(const Archive& archive, ArchiveReader& reader, WholeMeshModel& model);
/// Tells whether the numbers of a material are in range.
bool is_sound(const ElasticMaterial& material);

void add_sentences(ArchiveWriter& writer, const std::string& name, const std::vector<std::string>& sentences);
std::vector<std::string> read_sentences(ArchiveReader& reader, const std::string& name);

}  // namespace supple
