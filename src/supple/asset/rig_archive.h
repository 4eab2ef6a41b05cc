// SPDX-License-Identifier: Apache-2.0
// Rigs in a `.supple` archive: what a character's rest shape needs of its rig, and no more. Only the vertices that a
// model looks at are stored, with the skin, morph targets, wires and corrections of these; numbers stay as they are, so
// that a rig comes back with the same bits.
//
//   PREFIX.kind       "carried", "corrected" or "stack": the kinds of rig.h's family that are made of data
//   PREFIX.stageN     "skin", "shapes", "wire", "bend", "sum"
//
// A rig with a user's own function in it can't be stored.
#pragma once

#include "supple/asset/archive_reader.h"
#include "supple/rig/deform/pose_space.h"

namespace supple {

class RigArchive {
 public:
  static constexpr Eigen::Index most_poses = 1000;  ///< the most poses that a stored rig may interpolate between

  /// Stores what the chosen vertices need of the rig. Vertex k of the rig that is read back is vertices[k] of this one.
  static Status write(ArchiveWriter& writer, const std::string& prefix, const Rig& rig,
                      std::span<const Index> vertices);
  /// Stores all of its vertices.
  static Status write(ArchiveWriter& writer, const std::string& prefix, const Rig& rig);
  /// Reads a rig back. Gives null where something is wrong, and the reader remembers what.
  static std::shared_ptr<const Rig> read(ArchiveReader& reader, const std::string& prefix);

 private:
  class Output;
  class Input;
};

/// Stores poses between which something is interpolated, or that there are none …
void add_pose_weights(ArchiveWriter& writer, const std::string& name, const std::optional<PoseSpaceWeights>& poses);
/// … and reads them back. Gives nothing where there are none, and where something is wrong, which the reader remembers.
std::optional<PoseSpaceWeights> read_pose_weights(ArchiveReader& reader, const std::string& name,
                                                  const PoseLayout& layout);

}  // namespace supple
