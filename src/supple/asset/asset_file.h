// SPDX-License-Identifier: Apache-2.0
// A `.supple` file of any kind. What it holds is told by the kind in its header, never by its name:
//
//   "subspace"   SubspaceModel    a deformable object           (subspace_archive.h)
//   "character"  CharacterAsset   a character's soft tissue     (character_archive.h)
//   "full"       FullModel        a character without reduction (full_archive.h)
//   "domains"    DomainModel      an object made of many parts  (domain_archive.h)
//   "quasistatic" QuasistaticModel  a character's flesh at rest   (quasistatic_archive.h)
#pragma once

#include "supple/asset/archive.h"
#include "supple/asset/character_asset.h"
#include "supple/asset/domain_model.h"
#include "supple/asset/full_model.h"
#include "supple/asset/quasistatic_model.h"
#include "supple/asset/subspace_model.h"

#include <variant>

namespace supple {

using Asset = std::variant<SubspaceModel, CharacterAsset, FullModel, DomainModel, QuasistaticModel>;

/// "a deformable object", "a character's soft tissue", "the full simulation of a character", "an object made of many
/// parts", "a character's flesh at rest": what a sentence says that an asset holds.
std::string_view contents_of(const Asset& asset);

/// Archives of other kinds, such as the state of a run, are no assets.
bool holds_asset(const Archive& archive);

/// Opens, checks and decodes. Fails on files that are no archive, damaged, or of a kind that this version doesn't know.
Result<Asset> load_asset(const std::filesystem::path& path);
/// The same for an archive that is open already.
Result<Asset> decode_asset(const Archive& archive);
/// The bytes of the file; write them with write_file_atomically(). Fails for rigs that are more than data.
Result<std::string> encode_asset(const Asset& asset);

/// Loads an asset that must be a Model. Otherwise the error names what the file holds and what was wanted.
template <class Model>
Result<Model> load_asset_of(const std::filesystem::path& path);
template <>
Result<SubspaceModel> load_asset_of(const std::filesystem::path& path);
template <>
Result<CharacterAsset> load_asset_of(const std::filesystem::path& path);
template <>
Result<FullModel> load_asset_of(const std::filesystem::path& path);
template <>
Result<DomainModel> load_asset_of(const std::filesystem::path& path);
template <>
Result<QuasistaticModel> load_asset_of(const std::filesystem::path& path);

}  // namespace supple
