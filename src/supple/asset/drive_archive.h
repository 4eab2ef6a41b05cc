// SPDX-License-Identifier: Apache-2.0
// CharacterDrive in a `.supple` archive of kind "character", beside the model: arrays whose names begin with "drive.".
// Archives of earlier versions have none of them. Numbers of rigs stay as they are, so that joints give the same p, and
// positions, to the last bit; weights of the skin are of single precision, as engines have them.
#pragma once

#include "supple/asset/archive_reader.h"
#include "supple/asset/character_drive.h"

namespace supple {

class DriveArchive {
 public:
  static constexpr Index most_joints = 20'000;

  static bool present(const Archive& archive);
  /// Fails for rigs that are more than data.
  static Status write(ArchiveWriter& writer, const CharacterDrive& drive);
  /// Null where something is wrong, which the reader remembers.
  static std::shared_ptr<const CharacterDrive> read(ArchiveReader& reader);

 private:
  static Status write_rig(ArchiveWriter& writer, const std::string& prefix, const CharacterRig& rig);
  static std::optional<CharacterRig> read_rig(ArchiveReader& reader, const std::string& prefix);
  static void write_slots(ArchiveWriter& writer, const std::string& prefix, const CharacterRig& rig);
  static void read_slots(ArchiveReader& reader, const std::string& prefix, CharacterRig& rig);
  static void write_wires(ArchiveWriter& writer, const std::string& prefix, const CharacterRig& rig);
  static void read_wires(ArchiveReader& reader, const std::string& prefix, CharacterRig& rig);
};

}  // namespace supple
