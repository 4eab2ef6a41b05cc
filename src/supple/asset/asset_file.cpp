// SPDX-License-Identifier: Apache-2.0
#include "supple/asset/asset_file.h"

#include "supple/asset/character_archive.h"
#include "supple/asset/domain_archive.h"
#include "supple/asset/full_archive.h"
#include "supple/asset/quasistatic_archive.h"
#include "supple/asset/subspace_archive.h"

#include <algorithm>

namespace supple {
namespace {

/// Both in the order of the variant.
constexpr std::string_view kinds[] = {"subspace", "character", "full", "domains", "quasistatic"};
constexpr std::string_view contents[] = {"a deformable object", "a character's soft tissue",
                                         "the full simulation of a character", "an object made of many parts",
                                         "a character's flesh at rest"};
static_assert(std::size(contents) == std::variant_size_v<Asset> && std::size(kinds) == std::size(contents));

template <class Model>
Result<Asset> as_asset(Result<Model> model) {
  SUPPLE_RETURN_IF_ERROR(model);
  return Asset(std::move(*model));
}

Error in_file(const std::filesystem::path& path, const Error& error) {
  const std::string name = path.string();
  return error.message.starts_with(name) ? error : Error{error.kind, name + ": " + error.message};
}

template <class Model>
Result<Model> wanted(const std::filesystem::path& path) {
  Result<Asset> asset = load_asset(path);
  SUPPLE_RETURN_IF_ERROR(asset);
  if (Model* model = std::get_if<Model>(&*asset)) return std::move(*model);
  const std::string_view want = contents[Asset(std::in_place_type<Model>).index()];
  return in_file(path, input_error("the asset holds " + std::string(contents_of(*asset)) + ", but " +
                                   std::string(want) + " is wanted here"));
}

}  // namespace

std::string_view contents_of(const Asset& asset) { return contents[asset.index()]; }

bool holds_asset(const Archive& archive) {
  return std::find(std::begin(kinds), std::end(kinds), archive.kind()) != std::end(kinds);
}

Result<Asset> decode_asset(const Archive& archive) {
  if (archive.kind() == kinds[0]) return as_asset(decode_subspace_model(archive));
  if (archive.kind() == kinds[1]) return as_asset(decode_character(archive));
  if (archive.kind() == kinds[2]) return as_asset(decode_full_model(archive));
  if (archive.kind() == kinds[3]) return as_asset(decode_domain_model(archive));
  if (archive.kind() == kinds[4]) return as_asset(decode_quasistatic_model(archive));
  return input_error("the archive is of kind \"" + archive.kind() +
                     "\", which is neither an object nor a character; build it with `supple build`, or use a newer "
                     "version");
}

Result<Asset> load_asset(const std::filesystem::path& path) {
  const Result<Archive> archive = Archive::open(path);
  SUPPLE_RETURN_IF_ERROR(archive);
  Result<Asset> asset = decode_asset(*archive);
  if (!asset.ok()) return in_file(path, asset.error());
  return asset;
}

Result<std::string> encode_asset(const Asset& asset) {
  if (const auto* object = std::get_if<SubspaceModel>(&asset)) return encode_subspace_model(*object);
  if (const auto* character = std::get_if<CharacterAsset>(&asset)) return encode_character(*character);
  if (const auto* domains = std::get_if<DomainModel>(&asset)) return encode_domain_model(*domains);
  if (const auto* still = std::get_if<QuasistaticModel>(&asset)) return encode_quasistatic_model(*still);
  return encode_full_model(std::get<FullModel>(asset));
}

template <>
Result<SubspaceModel> load_asset_of(const std::filesystem::path& path) {
  return wanted<SubspaceModel>(path);
}
template <>
Result<CharacterAsset> load_asset_of(const std::filesystem::path& path) {
  return wanted<CharacterAsset>(path);
}
template <>
Result<FullModel> load_asset_of(const std::filesystem::path& path) {
  return wanted<FullModel>(path);
}
template <>
Result<DomainModel> load_asset_of(const std::filesystem::path& path) {
  return wanted<DomainModel>(path);
}

template <>
Result<QuasistaticModel> load_asset_of(const std::filesystem::path& path) {
  return wanted<QuasistaticModel>(path);
}

}  // namespace supple
