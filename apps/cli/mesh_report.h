// SPDX-License-Identifier: Apache-2.0
// A mesh described for people and for programs.
#pragma once

#include "supple/io/mesh/loaded_mesh.h"

#include <nlohmann/json.hpp>

#include <string>

namespace supple {

struct MeshReport {
  std::string text;  ///< aligned lines, indented by two
  nlohmann::ordered_json json;
};

MeshReport describe_mesh(const LoadedMesh& loaded);

}  // namespace supple
