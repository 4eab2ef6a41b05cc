// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/view_page.h"

#include "supple/io/deflate.h"
#include "supple/io/gltf/gltf_uri.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace supple {
namespace {

constexpr std::string_view place_of_data = "<!--supple:data-->";

/// The file as one that stands alone: compressed meshes are plain, images are inside.
std::string standalone_glb(const GltfDocument& document) {
  GltfDocument whole = document;
  embed_images(whole);
  return encode_glb(whole);
}

std::string element_of(const ViewBlock& block) {
  const std::string text = encode_data_uri("", deflate(block.bytes, 6));
  return fmt::format("<script type=\"application/octet-stream\" id=\"supple-{}\">{}</script>\n", block.name,
                     std::string_view(text).substr(text.find(',') + 1));
}

std::string description_of(const ViewThing& thing) {
  nlohmann::ordered_json json = {{"kind", thing.kind}, {"name", thing.name}};
  if (!thing.original.empty()) json["original"] = thing.original;
  if (thing.kind == "character") {
    json["bind"] = thing.bind;
    json["damping"] = thing.damping;
  }
  // A name may hold anything, but nothing that ends the element. Bytes that are no text are replaced.
  std::string text = json.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
  for (std::size_t at = 0; (at = text.find('<', at)) != std::string::npos; at += 6) text.replace(at, 1, "\\u003c");
  return fmt::format("<script type=\"application/json\" id=\"supple-what\">{}</script>\n", text);
}

}  // namespace

Result<ViewThing> view_character(const SoftCharacter& soft) {
  const auto* asset = std::get_if<CharacterAsset>(&soft.asset());
  if (asset == nullptr || !asset->drive)
    return input_error(fmt::format(
        "a page plays what the runtime plays, and this asset holds {}; build it with the engine \"posespace\", or bake "
        "it and show the baked file",
        contents_of(soft.asset())));
  const Result<std::string> bytes = encode_asset(soft.asset());
  SUPPLE_RETURN_IF_ERROR(bytes);
  ViewThing thing{.kind = "character", .name = soft.character().name};
  thing.bind = asset->drive->played.has_value();
  thing.damping = asset->damping;
  thing.blocks = {{"model", standalone_glb(soft.source().file.document)}, {"asset", *bytes}};
  return thing;
}

Result<ViewThing> view_object(const std::filesystem::path& asset) {
  const Result<Asset> loaded = load_asset(asset);
  SUPPLE_RETURN_IF_ERROR(loaded);
  if (!std::holds_alternative<SubspaceModel>(*loaded) && !std::holds_alternative<DomainModel>(*loaded))
    return input_error(
        fmt::format("it holds {}, and no pictures; name the character it was built from, and this with --asset",
                    contents_of(*loaded)));
  const Result<std::string> bytes = encode_asset(*loaded);
  SUPPLE_RETURN_IF_ERROR(bytes);
  ViewThing thing{.kind = "object", .name = asset.stem().string()};
  thing.blocks = {{"asset", *bytes}};
  return thing;
}

Result<ViewThing> view_baked(const std::filesystem::path& baked, const std::filesystem::path& original) {
  ViewThing thing{.kind = "baked", .name = baked.stem().string()};
  const Result<GltfDocument> document = load_gltf(baked);
  SUPPLE_RETURN_IF_ERROR(document);
  thing.blocks.push_back({"model", standalone_glb(*document)});
  if (original.empty()) return thing;
  const Result<GltfDocument> other = load_gltf(original);
  SUPPLE_RETURN_IF_ERROR(other);
  thing.original = original.stem().string();
  thing.blocks.push_back({"original", standalone_glb(*other)});
  return thing;
}

Result<std::string> fill_view_page(std::string_view page, const ViewThing& thing) {
  const std::size_t place = page.find(place_of_data);
  if (place == std::string_view::npos)
    return input_error("it isn't the page that `./go web` builds, or something is in it already; build it again");
  std::string filled(page.substr(0, place));
  filled += description_of(thing);
  for (const ViewBlock& block : thing.blocks) filled += element_of(block);
  filled += page.substr(place + place_of_data.size());
  return filled;
}

Result<std::filesystem::path> find_view_page() {
  std::error_code none;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", none);
  for (const char* place : {"../share/supple/view.html", "../web/view.html"}) {
    const std::filesystem::path page = (program.parent_path() / place).lexically_normal();
    if (!program.empty() && std::filesystem::is_regular_file(page, none)) return page;
  }
  return input_error("the web part isn't built, so there is no page to show things in; build it with `./go web`");
}

}  // namespace supple
