// SPDX-License-Identifier: Apache-2.0
// Documents back to files. The JSON goes out as it is; the data loses only what was decoded on the way in.
#include "supple/io/bytes.h"
#include "supple/io/file.h"
#include "supple/io/gltf/gltf_content.h"
#include "supple/io/gltf/gltf_uri.h"
#include "supple/io/gltf/meshopt_views.h"

#include <algorithm>
#include <array>
#include <map>

namespace supple {
namespace {

// ---- images ---------------------------------------------------------------------------------------------------------

std::string image_type(std::string_view bytes) {
  using namespace std::string_view_literals;
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> signatures = {
      {{"\x89PNG"sv, "image/png"sv}, {"\xff\xd8\xff"sv, "image/jpeg"sv}, {"\xabKTX 20"sv, "image/ktx2"sv}}};
  for (const auto& [start, type] : signatures)
    if (bytes.starts_with(start)) return std::string(type);
  if (bytes.size() > 12 && bytes.starts_with("RIFF") && bytes.substr(8, 4) == "WEBP") return "image/webp";
  return "";
}

std::optional<std::string> image_bytes(const GltfContent& content, const std::string& uri) {
  if (is_data_uri(uri)) {
    std::optional<DataUri> data = decode_data_uri(uri);
    if (!data) return std::nullopt;
    return std::move(data->bytes);
  }
  const std::optional<std::string> path = relative_path(uri);
  if (!path || !content.read) return std::nullopt;
  Result<std::string> bytes = content.read(*path);
  if (!bytes.ok()) return std::nullopt;
  return std::move(*bytes);
}

void take_in_image(GltfContent& content, std::size_t index, std::map<std::string, std::size_t>& view_of_uri) {
  const std::string uri = json_string(content.root["images"][index], "uri");
  if (uri.empty()) return;
  const auto known = view_of_uri.find(uri);
  std::size_t view = known != view_of_uri.end() ? known->second : 0;
  std::string type = json_string(content.root["images"][index], "mimeType");
  if (known == view_of_uri.end()) {
    const std::optional<std::string> bytes = image_bytes(content, uri);
    if (bytes) type = image_type(*bytes);
    if (!bytes || type.empty()) {
      content.warn(fmt::format("The image {:.80} {}, so it stays a reference to another file.", uri,
                               bytes ? "is of no known kind" : "can't be read"));
      return;
    }
    view = append_view(content, *bytes);
    view_of_uri[uri] = view;
  }
  GltfJson& image = content.root["images"][index];
  image.erase("uri");
  image["bufferView"] = view;
  image["mimeType"] = type;
}

// ---- leaving out what was decoded -----------------------------------------------------------------------------------

// The parts of the freed ranges that no view shows, whole multiples of four, in ascending order.
std::vector<ByteRange> unused_ranges(const GltfContent& content) {
  std::vector<ByteRange> views;
  for (const GltfJson& view : json_array(content.root, "bufferViews"))
    views.push_back({view.value("byteOffset", std::size_t{0}), view.value("byteLength", std::size_t{0})});
  const auto by_start = [](const ByteRange& a, const ByteRange& b) { return a.start < b.start; };
  std::vector<ByteRange> freed = content.freed;
  std::sort(views.begin(), views.end(), by_start);
  std::sort(freed.begin(), freed.end(), by_start);
  std::vector<ByteRange> unused;
  std::size_t from = 0, v = 0;
  const auto keep_gap = [&](std::size_t to) {
    const std::size_t start = (from + 3) / 4 * 4, stop = to / 4 * 4;
    if (stop > start) unused.push_back({start, stop - start});
  };
  for (const ByteRange& range : freed) {
    from = std::max(from, range.start);
    const std::size_t stop = range.start + range.size;
    for (; v < views.size() && views[v].start < stop; ++v) {
      keep_gap(std::min(views[v].start, stop));
      from = std::max(from, views[v].start + views[v].size);
    }
    keep_gap(stop);
    from = std::max(from, stop);
  }
  return unused;
}

void leave_out(GltfContent& content, const std::vector<ByteRange>& unused) {
  std::string kept;
  std::size_t from = 0;
  std::vector<std::size_t> starts, removed = {0};  // removed[k]: bytes of the first k ranges
  for (const ByteRange& range : unused) {
    kept.append(content.binary, from, range.start - from);
    from = range.start + range.size;
    starts.push_back(range.start);
    removed.push_back(removed.back() + range.size);
  }
  kept.append(content.binary, from);
  content.binary = std::move(kept);
  if (!content.root.contains("bufferViews")) return;
  for (GltfJson& view : content.root["bufferViews"]) {
    const auto offset = view.value("byteOffset", std::size_t{0});
    const auto before = std::lower_bound(starts.begin(), starts.end(), offset) - starts.begin();
    view["byteOffset"] = offset - removed[to_size(before)];
  }
}

// A copy that is fit to be written: its JSON states the size of the data, and has no empty lists, which glTF forbids.
GltfContent finished(const GltfContent& source, GltfPacking packing) {
  GltfContent content = source;
  const std::vector<ByteRange> unused = unused_ranges(content);
  if (!unused.empty()) leave_out(content, unused);
  if (!content.binary.empty()) {
    GltfJson& buffers = editable_array(content, "buffers");
    if (buffers.empty()) buffers.push_back(GltfJson::object());
    buffers[0]["byteLength"] = content.binary.size();
  }
  for (const char* key : {"buffers", "bufferViews", "accessors", "meshes", "nodes", "skins", "animations"}) {
    const auto found = content.root.find(key);
    if (found != content.root.end() && found->is_array() && found->empty()) content.root.erase(key);
  }
  if (packing == GltfPacking::meshopt) pack_views(content);
  return content;
}

void append_glb_chunk(std::string& file, std::string_view type, std::string_view bytes, char padding) {
  const std::size_t padded = (bytes.size() + 3) / 4 * 4;
  append_bytes(file, static_cast<std::uint32_t>(padded));
  file.append(type);
  file.append(bytes);
  file.append(padded - bytes.size(), padding);
}

}  // namespace

std::string glb_container(std::string_view json, std::string_view binary) {
  std::string chunks;
  append_glb_chunk(chunks, "JSON", json, ' ');
  if (!binary.empty()) append_glb_chunk(chunks, std::string_view("BIN\0", 4), binary, '\0');
  std::string file = "glTF";
  append_bytes(file, std::uint32_t{2});
  append_bytes(file, static_cast<std::uint32_t>(chunks.size() + 12));
  return file + chunks;
}

void embed_images(GltfDocument& document) {
  GltfContent& content = document.content();
  if (json_array(content.root, "images").empty()) return;
  (void)editable_array(content, "bufferViews");
  std::map<std::string, std::size_t> view_of_uri;
  for (std::size_t i = 0; i < content.root["images"].size(); ++i) take_in_image(content, i, view_of_uri);
}

std::string encode_glb(const GltfDocument& document, GltfPacking packing) {
  const GltfContent content = finished(document.content(), packing);
  return glb_container(content.root.dump(), content.binary);
}

std::string encode_gltf(const GltfDocument& document, GltfPacking packing) {
  GltfContent content = finished(document.content(), packing);
  if (!content.binary.empty())
    content.root["buffers"][0]["uri"] = encode_data_uri("application/octet-stream", content.binary);
  return content.root.dump(1);
}

Status save_gltf(GltfDocument& document, const std::filesystem::path& path, GltfPacking packing) {
  return gltf_guarded(path.string(), [&]() -> Status {
    embed_images(document);
    if (path.extension() == ".gltf") return write_file_atomically(path, encode_gltf(document, packing));
    if (document.content().binary.size() > largest_glb - (std::size_t{1} << 28))
      return input_error(path.string() + " would be larger than the 4 GiB that GLB can hold.");
    return write_file_atomically(path, encode_glb(document, packing));
  });
}

}  // namespace supple
