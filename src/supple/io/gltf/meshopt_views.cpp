// SPDX-License-Identifier: Apache-2.0
#include "supple/io/gltf/meshopt_views.h"

#include <meshoptimizer.h>

namespace supple {
namespace {

// Of the codecs, none packs more into a byte: 256 elements of 4 bytes whose deltas are all zero take one.
constexpr std::uint64_t best_ratio = 1024;

struct CompressedView {
  std::string where;
  std::string bytes;
  std::size_t count = 0;
  std::size_t stride = 0;
  std::string mode;
  std::string filter;
};

std::span<const unsigned char> unsigned_bytes(const std::string& bytes) {
  return {reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()};
}

void check_shape(const CompressedView& view) {
  const bool attributes = view.mode == "ATTRIBUTES";
  const bool fits = attributes
                        ? view.stride % 4 == 0 && view.stride > 0 && view.stride <= 256
                        : (view.mode == "TRIANGLES" || view.mode == "INDICES") &&
                              (view.stride == 2 || view.stride == 4) && (view.mode == "INDICES" || view.count % 3 == 0);
  const bool filterable =
      view.filter == "NONE" || (attributes && view.filter == "EXPONENTIAL") ||
      (attributes && view.filter == "QUATERNION" && view.stride == 8) ||
      (attributes && (view.filter == "OCTAHEDRAL" || view.filter == "COLOR") && (view.stride == 4 || view.stride == 8));
  if (!fits || !filterable) gltf_fault("{} has meshopt settings that don't exist; export the file again.", view.where);
  if (view.count > (view.bytes.size() + 64) * best_ratio / view.stride)
    gltf_fault("{} claims {} elements in {} compressed bytes, which is impossible; export the file again.", view.where,
               view.count, view.bytes.size());
}

bool decode_mode(const CompressedView& view, std::string& out) {
  const std::span<const unsigned char> bytes = unsigned_bytes(view.bytes);
  if (view.mode == "TRIANGLES")
    return meshopt_decodeIndexBuffer(out.data(), view.count, view.stride, bytes.data(), bytes.size()) == 0;
  if (view.mode == "INDICES")
    return meshopt_decodeIndexSequence(out.data(), view.count, view.stride, bytes.data(), bytes.size()) == 0;
  if (!bytes.empty() && bytes[0] == 0xa1) {
    const std::span<unsigned char> target(reinterpret_cast<unsigned char*>(out.data()), out.size());
    return decode_meshopt_attributes_v1(target, view.count, view.stride, bytes);
  }
  return meshopt_decodeVertexBuffer(out.data(), view.count, view.stride, bytes.data(), bytes.size()) == 0;
}

void apply_filter(const CompressedView& view, std::string& out) {
  if (view.filter == "OCTAHEDRAL") meshopt_decodeFilterOct(out.data(), view.count, view.stride);
  if (view.filter == "QUATERNION") meshopt_decodeFilterQuat(out.data(), view.count, view.stride);
  if (view.filter == "EXPONENTIAL") meshopt_decodeFilterExp(out.data(), view.count, view.stride);
  if (view.filter == "COLOR")
    decode_meshopt_colors({reinterpret_cast<unsigned char*>(out.data()), out.size()}, view.stride);
}

std::string decode(const CompressedView& view) {
  check_shape(view);
  std::string out(view.count * view.stride, '\0');
  if (!decode_mode(view, out))
    gltf_fault("the meshopt data of {} is damaged; export the file again, or without compression.", view.where);
  apply_filter(view, out);
  return out;
}

}  // namespace

bool decode_meshopt_view(GltfContent& content, std::size_t index, GltfJson& view, std::size_t buffer_count,
                         const std::function<ByteRange(std::size_t)>& placed) {
  const GltfJson& extensions = json_object(view, "extensions", "a buffer view");
  for (const char* name : meshopt_extensions) {
    const auto extension = extensions.find(name);
    if (extension == extensions.end()) continue;
    const std::string where = fmt::format("buffer view {}", index);
    const ByteRange buffer = placed(require_index(*extension, "buffer", buffer_count, where));
    const std::uint64_t offset = json_count(*extension, "byteOffset", where).value_or(0);
    const std::uint64_t length = require_count(*extension, "byteLength", where);
    if (length > buffer.size || offset > buffer.size - length)
      gltf_fault("the compressed data of {} reaches beyond its buffer; the file is damaged, export it again.", where);
    const ByteRange source{buffer.start + to_size(offset), to_size(length)};
    const CompressedView compressed{where,
                                    content.binary.substr(source.start, source.size),
                                    to_size(require_count(*extension, "count", where)),
                                    to_size(require_count(*extension, "byteStride", where)),
                                    json_string(*extension, "mode"),
                                    json_string(*extension, "filter", "NONE")};
    const std::string data = decode(compressed);
    content.freed.push_back(source);
    view["buffer"] = 0;
    view["byteOffset"] = append_data(content, data);
    view["byteLength"] = data.size();
    view["extensions"].erase(name);
    if (view["extensions"].empty()) view.erase("extensions");
    return true;
  }
  return false;
}

}  // namespace supple
