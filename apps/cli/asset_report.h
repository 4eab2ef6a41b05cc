// SPDX-License-Identifier: Apache-2.0
// What is inside a `.supple` file, for a person and for --json.
#pragma once

#include "mesh_report.h"
#include "supple/base/result.h"

#include <filesystem>

namespace supple {

Result<MeshReport> describe_asset(const std::filesystem::path& path);

}  // namespace supple
