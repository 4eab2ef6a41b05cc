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

/// The same as a part of another archive: names of its arrays begin with the prefix.
void add_subspace_model(ArchiveWriter& writer, const std::string& prefix, const SubspaceModel& model);
Result<SubspaceModel> read_subspace_model(const Archive& archive, const std::string& prefix);

/// Opens an archive file, checks it and decodes the model in it.
Result<SubspaceModel> load_subspace_model(const std::filesystem::path& path);

}  // namespace supple
