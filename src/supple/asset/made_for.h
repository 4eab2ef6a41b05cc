// SPDX-License-Identifier: Apache-2.0
// MadeFor: which character an asset was built for, as one hash for each thing that the asset took from it. An asset
// runs with any character of as many vertices, and shows nonsense with the wrong one; so it carries what tells them
// apart. The hashes are made where characters are read (pipeline/character/fingerprint.h); here they are only kept.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace supple {

class Archive;
class ArchiveReader;
class ArchiveWriter;

struct MadeFor {
  /// What is hashed, in the words of messages.
  static constexpr std::array<std::string_view, 5> names = {"skeleton at rest", "inverse bind matrices", "skin weights",
                                                            "shape", "triangles"};
  /// One for each name; all empty in assets of earlier versions.
  std::array<std::string, names.size()> hashes;

  bool known() const { return !hashes[0].empty(); }
};

void add_made_for(ArchiveWriter& writer, const MadeFor& made_for);
/// Gives one that isn't known where the archive has none.
MadeFor read_made_for(const Archive& archive, ArchiveReader& reader);

}  // namespace supple
