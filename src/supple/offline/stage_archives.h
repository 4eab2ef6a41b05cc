// SPDX-License-Identifier: Apache-2.0
// Results of build stages as bytes, exactly, for a StageStore; and the content of what stages are made from.
#pragma once

#include "supple/base/stage_store.h"
#include "supple/offline/meshing/tetrahedralize.h"
#include "supple/offline/posespace/cubature/train_cubature.h"

namespace supple {

std::string encode_stage(const TetMeshingResult& meshed);
Result<TetMeshingResult> decode_meshing(const std::string& bytes);

/// Writes matrices, one after the other.
std::string encode_stage(std::span<const MatX> matrices);
Result<std::vector<MatX>> decode_matrices(const std::string& bytes);

std::string encode_stage(const PoseCubature& cubature);
Result<PoseCubature> decode_cubature(const std::string& bytes);

void add_content(ContentHash& content, const Surface& surface);
void add_content(ContentHash& content, std::span<const ElasticMaterial> materials);
/// Adds vertices, elements and materials of a mesh.
void add_content(ContentHash& content, const TetMesh& mesh);
/// All that a rig does; false where it runs code of its own, which nothing can stand for.
bool add_content(ContentHash& content, const Rig& rig);

}  // namespace supple
