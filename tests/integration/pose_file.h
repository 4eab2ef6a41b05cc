// SPDX-License-Identifier: Apache-2.0
// Reads what three_positions.mjs writes.
#pragma once

#include "supple/base/types.h"
#include "supple/io/bytes.h"

#include <cstring>
#include <string>
#include <vector>

namespace supple {

struct ThreeMesh {
  std::uint32_t node = 0, primitive = 0;
  std::vector<Vec3> positions;
};

struct ThreePose {
  std::uint32_t clip = 0;
  double time = 0;
  std::vector<ThreeMesh> meshes;
};

inline bool read_mesh(ByteReader& reader, ThreeMesh& mesh) {
  std::uint32_t count = 0;
  if (!reader.read(mesh.node) || !reader.read(mesh.primitive) || !reader.read(count)) return false;
  mesh.positions.resize(count);
  for (Vec3& x : mesh.positions)
    for (double& c : x)
      if (!reader.read(c)) return false;
  return true;
}

/// Nothing when the bytes are cut short.
inline std::vector<ThreePose> read_poses(const std::string& bytes) {
  std::vector<ThreePose> poses;
  ByteReader reader(bytes);
  while (reader.bytes_left() > 0) {
    ThreePose pose;
    std::uint32_t magic = 0, meshes = 0;
    if (!reader.read(magic) || !reader.read(pose.clip) || !reader.read(pose.time) || !reader.read(meshes)) return {};
    pose.meshes.resize(meshes);
    for (ThreeMesh& mesh : pose.meshes)
      if (!read_mesh(reader, mesh)) return {};
    poses.push_back(std::move(pose));
  }
  return poses;
}

}  // namespace supple
