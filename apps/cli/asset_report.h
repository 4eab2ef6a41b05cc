// SPDX-License-Identifier: Apache-2.0
// What is inside an asset, for a person and for --json: of a `.supple` file, and of a character that was just built.
#pragma once

#include "command.h"
#include "mesh_report.h"
#include "supple/pipeline/character/engine.h"

#include <filesystem>

namespace supple {

/// What `supple inspect` shows of a file.
Result<MeshReport> describe_asset(const std::filesystem::path& path);

/// The lines that `supple build` and `supple bake` show of a character's body, whatever engine it is for.
void tell_body(const Asset& asset, Session& session);
/// The same for --json.
void fill_body(const Asset& asset, Json& out);

}  // namespace supple
