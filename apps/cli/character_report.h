// SPDX-License-Identifier: Apache-2.0
// A character's file described for people and for programs.
#pragma once

#include "mesh_report.h"

namespace supple {

Result<MeshReport> describe_character_file(const std::string& file);

}  // namespace supple
