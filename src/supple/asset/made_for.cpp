// SPDX-License-Identifier: Apache-2.0
#include "supple/asset/made_for.h"

#include "supple/asset/archive_reader.h"

namespace supple {
namespace {

constexpr std::size_t digits = 32;  // of a hash
const std::string entry = "made_for";

}  // namespace

void add_made_for(ArchiveWriter& writer, const MadeFor& made_for) {
  if (!made_for.known()) return;
  std::string text;
  for (const std::string& hash : made_for.hashes) text += hash;
  writer.add(entry, std::string_view(text));
}

MadeFor read_made_for(const Archive& archive, ArchiveReader& reader) {
  MadeFor made_for;
  if (!archive.text(entry).ok()) return made_for;
  const std::string text = reader.text(entry);
  if (text.size() != digits * made_for.hashes.size()) {
    reader.misfit(entry);
    return made_for;
  }
  for (std::size_t k = 0; k < made_for.hashes.size(); ++k) made_for.hashes[k] = text.substr(digits * k, digits);
  return made_for;
}

}  // namespace supple
