// SPDX-License-Identifier: Apache-2.0
// What archives of models with whole meshes have in common: tetrahedra with materials and what is held, the skin that
// hangs on them, and sentences.
#pragma once

#include "supple/asset/archive_reader.h"
#include "supple/mesh/volume_mesh.h"

#include <array>

namespace supple {

void add_quadruples(ArchiveWriter& writer, const std::string& name, std::span<const std::array<Index, 4>> rows);
/// Reads runs of four that all lie below `limit`.
std::vector<std::array<Index, 4>> read_quadruples(ArchiveReader& reader, const std::string& name, Index limit);
void add_weights(ArchiveWriter& writer, const std::string& name, std::span<const std::array<double, 4>> rows);

void add_soft_mesh(ArchiveWriter& writer, const TetMesh& mesh, const std::vector<Index>& fixed);
void read_soft_mesh(ArchiveReader& reader, TetMesh& mesh, std::vector<Index>& fixed);
/// Tells whether the numbers of a material are in range.
bool is_sound(const ElasticMaterial& material);

void add_hanging_skin(ArchiveWriter& writer, std::span<const std::array<Index, 4>> vertices,
                      std::span<const std::array<double, 4>> weights);
void read_hanging_skin(ArchiveReader& reader, Index mesh_vertices, std::vector<std::array<Index, 4>>& vertices,
                       std::vector<std::array<double, 4>>& weights);

void add_sentences(ArchiveWriter& writer, const std::string& name, const std::vector<std::string>& sentences);
std::vector<std::string> read_sentences(ArchiveReader& reader, const std::string& name);

}  // namespace supple
