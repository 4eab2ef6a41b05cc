// SPDX-License-Identifier: Apache-2.0
// Meshes from and to files. The format follows from the file's extension; a file that is plainly something else is read
// as what it is, with a warning. What each format holds: docs/formats.md.
#pragma once

#include "supple/io/mesh/loaded_mesh.h"

#include <filesystem>

namespace supple {

/// A character's file (.glb, .gltf) gives its surface at rest, where the scene shows it.
/// Indices are in range, coordinates finite, volumes not negative, at least one element or triangle exists.
Result<LoadedMesh> load_mesh(const std::filesystem::path& path);

/// Writes all or nothing (TetGen: each of its two files). Refuses formats that can't hold this kind of mesh.
Status save_mesh(const Surface& surface, const std::filesystem::path& path, const SaveOptions& options = {});
Status save_mesh(const TetMesh& mesh, const std::filesystem::path& path, const SaveOptions& options = {});
Status save_mesh(const HexMesh& mesh, const std::filesystem::path& path, const SaveOptions& options = {});
Status save_mesh(const std::variant<Surface, TetMesh, HexMesh>& mesh, const std::filesystem::path& path,
                 const SaveOptions& options = {});
Status save_mesh(const LoadedMesh& mesh, const std::filesystem::path& path, const SaveOptions& options = {});

/// Lists the extensions that load_mesh reads, with the dot, such as ".veg".
std::vector<std::string> readable_extensions();
/// Lists the extensions that save_mesh writes without loss. It also writes .glb, but that holds surfaces split at
/// creases and in single precision.
std::vector<std::string> writable_extensions();

}  // namespace supple
