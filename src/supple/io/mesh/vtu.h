// SPDX-License-Identifier: Apache-2.0
// VTU: meshes with named fields on points and cells, to look at in ParaView, and PVD: time series of them.
//
// The file is plain XML with base64 arrays compressed by zlib, little-endian; ParaView and VTK read it as it is.
#pragma once

#include "supple/base/result.h"
#include "supple/mesh/surface.h"
#include "supple/mesh/volume_mesh.h"

#include <filesystem>
#include <span>

namespace supple {

/// `components` numbers per point or cell: 1 for scalars, 3 for vectors, 9 for tensors.
struct VtuArray {
  std::string name;
  int components = 1;
  std::vector<double> values;
};

/// A displacement, velocity or mode shape as a vector per point.
VtuArray vtu_vectors(std::string name, const VecX& stacked);

struct VtuFields {
  std::vector<VtuArray> points;
  std::vector<VtuArray> cells;
};

/// The bytes of the file. An error if an array's size doesn't fit the mesh or two arrays share a name.
Result<std::string> vtu_bytes(const TetMesh& mesh, const VtuFields& fields = {});
Result<std::string> vtu_bytes(const HexMesh& mesh, const VtuFields& fields = {});
Result<std::string> vtu_bytes(const Surface& surface, const VtuFields& fields = {});

Status write_vtu(const std::filesystem::path& path, const TetMesh& mesh, const VtuFields& fields = {});
Status write_vtu(const std::filesystem::path& path, const HexMesh& mesh, const VtuFields& fields = {});
Status write_vtu(const std::filesystem::path& path, const Surface& surface, const VtuFields& fields = {});

struct PvdFrame {
  double time = 0;   ///< [s]
  std::string file;  ///< a .vtu file, relative to the .pvd file
};

Status write_pvd(const std::filesystem::path& path, std::span<const PvdFrame> frames);

}  // namespace supple
