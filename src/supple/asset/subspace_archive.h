// SPDX-License-Identifier: Apache-2.0
// SubspaceModel in a `.supple` archive of kind "subspace".
#pragma once

#include "supple/asset/archive.h"
#include "supple/asset/subspace_model.h"

namespace supple {

/// The bytes of the file; write them with write_file_atomically().
std::string encode_subspace_model(const SubspaceModel& model);

/// Fails on an archive of another kind, or one whose arrays do not fit each other.
Result<SubspaceModel> decode_subspace_model(const Archive& archive);

/// Opens an archive file, checks it and decodes the model in it.
Result<SubspaceModel> load_subspace_model(const std::filesystem::path& path);

}  // namespace supple
