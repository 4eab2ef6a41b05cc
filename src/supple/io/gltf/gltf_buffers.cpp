// SPDX-License-Identifier: Apache-2.0
#include "supple/io/gltf/gltf_buffers.h"

#include "supple/io/gltf/gltf_uri.h"
#include "supple/io/gltf/meshopt_views.h"

namespace supple {
namespace {

// Where a buffer of the file lies in the merged one.
struct PlacedBuffer {
  ByteRange range;
  bool without_data = false;  ///< stands for what compressed views decode to
};

std::string read_resource(const GltfContent& content, const std::string& uri, std::size_t buffer) {
  if (is_data_uri(uri)) {
    std::optional<DataUri> data = decode_data_uri(uri);
    if (!data) gltf_fault("the data inside buffer {} isn't valid base64; export the file again.", buffer);
    return std::move(data->bytes);
  }
  const std::optional<std::string> path = relative_path(uri);
  if (!path)
    gltf_fault("buffer {} lies outside the file's folder ({:.80}); copy it there and correct the reference.", buffer,
               uri);
  if (!content.read) gltf_fault("buffer {} is another file ({:.80}), which can't be reached.", buffer, *path);
  Result<std::string> bytes = content.read(*path);
  if (!bytes.ok())
    gltf_fault("its buffer {:.200} can't be read; put that file into the same folder, or export as .glb.", *path);
  return std::move(*bytes);
}

bool is_fallback(const GltfJson& buffer) {
  const GltfJson& extensions = json_object(buffer, "extensions", "a buffer");
  for (const char* name : meshopt_extensions) {
    const auto found = extensions.find(name);
    if (found != extensions.end() && found->value("fallback", false)) return true;
  }
  return false;
}

PlacedBuffer place_buffer(GltfContent& content, std::string_view chunk, std::size_t index, const GltfJson& buffer) {
  const std::string where = fmt::format("buffer {}", index);
  const std::uint64_t length = require_count(buffer, "byteLength", where);
  const std::string uri = json_string(buffer, "uri");
  if (uri.empty() && is_fallback(buffer)) return {{0, to_size(length)}, true};
  std::string loaded;
  if (!uri.empty())
    loaded = read_resource(content, uri, index);
  else if (index == 0)
    loaded = chunk;
  if (loaded.size() < length)
    gltf_fault("buffer {} claims {} bytes but has {}; the file is cut short, copy or export it again.", index, length,
               loaded.size());
  const std::size_t start = append_data(content, std::string_view(loaded).substr(0, to_size(length)));
  return {{start, to_size(length)}, false};
}

void place_view(GltfContent& content, const std::vector<PlacedBuffer>& buffers, std::size_t index, GltfJson& view) {
  const std::string where = fmt::format("buffer view {}", index);
  const PlacedBuffer& buffer = buffers[require_index(view, "buffer", buffers.size(), where)];
  const std::uint64_t offset = json_count(view, "byteOffset", where).value_or(0);
  const std::uint64_t length = require_count(view, "byteLength", where);
  if (length > buffer.range.size || offset > buffer.range.size - length)
    gltf_fault("{} reaches beyond its buffer ({} + {} of {} bytes); the file is damaged, export it again.", where,
               offset, length, buffer.range.size);
  const auto placed = [&](std::size_t b) {
    if (buffers[b].without_data) gltf_fault("{} has no data; export the file again.", where);
    return buffers[b].range;
  };
  if (decode_meshopt_view(content, index, view, buffers.size(), placed)) return;
  const std::size_t start = placed(require_index(view, "buffer", buffers.size(), where)).start;
  view["buffer"] = 0;
  view["byteOffset"] = start + to_size(offset);
}

}  // namespace

void merge_buffers(GltfContent& content, std::string_view chunk) {
  const GltfJson buffers = json_array(content.root, "buffers");
  std::vector<PlacedBuffer> placed;
  for (std::size_t b = 0; b < buffers.size(); ++b) placed.push_back(place_buffer(content, chunk, b, buffers[b]));
  (void)json_array(content.root, "bufferViews");
  if (content.root.contains("bufferViews")) {
    GltfJson& views = content.root["bufferViews"];
    for (std::size_t v = 0; v < views.size(); ++v) place_view(content, placed, v, views[v]);
  }
  for (const char* name : meshopt_extensions) forget_extension(content, name);
  if (buffers.empty()) return;
  GltfJson merged = buffers[0];
  for (const char* key : {"uri", "byteLength", "extensions"}) merged.erase(key);
  content.root["buffers"] = GltfJson::array({std::move(merged)});
}

}  // namespace supple
