// SPDX-License-Identifier: Apache-2.0
#include "supple/io/gltf/gltf_document.h"

#include "supple/io/bytes.h"
#include "supple/io/file.h"
#include "supple/io/file_kind.h"
#include "supple/io/gltf/draco_primitives.h"
#include "supple/io/gltf/gltf_accessor.h"
#include "supple/io/gltf/gltf_buffers.h"
#include "supple/io/gltf/gltf_check.h"
#include "supple/io/gltf/gltf_repair.h"

namespace supple {
namespace {

constexpr std::uint32_t json_chunk = 0x4e4f534a, binary_chunk = 0x004e4942;
constexpr int deepest_json = 200;  // writing JSON recurses, so that a file of brackets alone could end the program

struct Parts {
  std::string_view json;
  std::string_view binary;
};

// GLB: header (magic, version, length), then chunks (length, type, bytes).
Parts split_glb(std::string_view bytes) {
  ByteReader reader(bytes);
  std::uint32_t magic = 0, version = 0, length = 0;
  if (!reader.read(magic) || !reader.read(version) || !reader.read(length))
    gltf_fault("the file is cut short; copy or export it again.");
  if (version != 2) gltf_fault("it is version {} of GLB, but only 2 is supported; export the model again.", version);
  if (length > bytes.size())
    gltf_fault("it claims {} bytes but has {}; the file is cut short, copy or export it again.", length, bytes.size());
  Parts parts;
  bool has_json = false;
  for (std::uint32_t size = 0, type = 0; reader.position() + 8 <= length;) {
    if (!reader.read(size) || !reader.read(type)) break;
    const std::size_t start = reader.position();
    if (size > length - start)
      gltf_fault("a part of it claims {} bytes but has {}; the file is cut short, copy or export it again.", size,
                 length - start);
    if (type == json_chunk && !has_json) {
      parts.json = bytes.substr(start, size);
      has_json = true;
    } else if (type == binary_chunk && parts.binary.empty()) {
      parts.binary = bytes.substr(start, size);
    }
    (void)reader.skip(size);
  }
  if (!has_json) gltf_fault("it holds no JSON; the file is damaged, export it again.");
  return parts;
}

void check_depth(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth > deepest_json) gltf_fault("its JSON is nested too deeply; export the file again.");
  }
}

GltfJson parse_json(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  // Chunks are padded, by the book with blanks, by some with zeros.
  while (text.ends_with('\0') || text.ends_with(' ')) text.remove_suffix(1);
  check_depth(text);
  try {
    return GltfJson::parse(text);
  } catch (const GltfJson::parse_error& error) {
    gltf_fault("its JSON is damaged at byte {}; copy or export the file again.", error.byte);
  }
}

GltfContent read_content(std::string_view bytes, const std::string& name, ResourceReader read) {
  const bool binary = bytes.starts_with("glTF");
  const Parts parts = binary ? split_glb(bytes) : Parts{bytes, {}};
  GltfContent content;
  content.root = parse_json(parts.json);
  content.name = name;
  content.read = std::move(read);
  check_header(content);
  merge_buffers(content, parts.binary);
  decode_draco_primitives(content);
  if (!content.freed.empty())
    content.warn("The file's data is compressed; it is decoded here, so that a file written from it is larger.");
  check_document(content);
  repair_document(content);
  return content;
}

// Other formats get a sentence of their own instead of one about broken JSON.
Status check_kind(const std::filesystem::path& path, std::string_view bytes) {
  FileKind kind = kind_of_extension(path);
  if (kind != FileKind::vrm) {
    const FileKind by_content = kind_of_content(bytes);
    if (by_content != FileKind::unknown) kind = by_content;
  }
  if (kind == FileKind::gltf || kind == FileKind::unknown) return {};
  if (kind >= FileKind::vrm) return input_error(refusal(kind, path.string()));
  return input_error(path.string() +
                     " holds a mesh without a skeleton; export the character as glTF 2.0 (.glb) with its skin.");
}

bool is_triangles(const GltfJson& primitive) { return json_count(primitive, "mode", "a mesh").value_or(4) >= 4; }

std::size_t triangle_count(std::size_t corners, std::uint64_t mode) {
  if (mode == 4) return corners / 3;
  return corners < 3 ? 0 : corners - 2;
}

void count_primitive(const GltfContent& content, const GltfJson& primitive, GltfSummary& summary) {
  ++summary.primitives;
  const GltfJson& attributes = json_object(primitive, "attributes", "a mesh");
  const auto position = json_index(attributes, "POSITION", accessor_count(content), "a mesh");
  if (!is_triangles(primitive) || !position) return;
  const std::size_t vertices = accessor_shape(content, *position).count;
  const auto indices = json_index(primitive, "indices", accessor_count(content), "a mesh");
  summary.vertices += vertices;
  summary.triangles += triangle_count(indices ? accessor_shape(content, *indices).count : vertices,
                                      json_count(primitive, "mode", "a mesh").value_or(4));
}

}  // namespace

GltfDocument::GltfDocument() : content_(std::make_unique<GltfContent>()) {}
GltfDocument::GltfDocument(GltfContent content) : content_(std::make_unique<GltfContent>(std::move(content))) {}
GltfDocument::GltfDocument(const GltfDocument& other) : content_(std::make_unique<GltfContent>(*other.content_)) {}
GltfDocument::GltfDocument(GltfDocument&& other) noexcept = default;
GltfDocument& GltfDocument::operator=(GltfDocument other) noexcept {
  content_.swap(other.content_);
  return *this;
}
GltfDocument::~GltfDocument() = default;

const std::string& GltfDocument::name() const { return content_->name; }
const std::vector<std::string>& GltfDocument::warnings() const { return content_->warnings; }

Result<GltfDocument> load_gltf(const std::filesystem::path& path) {
  const Result<std::string> bytes = read_file(path);
  SUPPLE_RETURN_IF_ERROR(bytes);
  if (bytes->empty()) return input_error(path.string() + " is empty; export the model again.");
  SUPPLE_RETURN_IF_ERROR(check_kind(path, *bytes));
  const std::filesystem::path folder = path.parent_path();
  return parse_gltf(*bytes, path.string(), [folder](const std::string& file) { return read_file(folder / file); });
}

Result<GltfDocument> parse_gltf(std::string_view bytes, const std::string& name, ResourceReader read) {
  return gltf_guarded(
      name, [&]() -> Result<GltfDocument> { return GltfDocument(read_content(bytes, name, std::move(read))); });
}

GltfSummary summarize(const GltfDocument& document) {
  const GltfContent& content = document.content();
  const auto count = [&](const char* key) { return json_array(content.root, key).size(); };
  GltfSummary summary;
  summary.generator = json_string(json_object(content.root, "asset", "the file"), "generator");
  summary.nodes = count("nodes");
  summary.meshes = count("meshes");
  summary.materials = count("materials");
  summary.textures = count("textures");
  summary.images = count("images");
  summary.cameras = count("cameras");
  summary.skins = count("skins");
  summary.animations = count("animations");
  summary.extensions = content.extensions;
  for (const GltfJson& mesh : json_array(content.root, "meshes"))
    for (const GltfJson& primitive : json_array(mesh, "primitives")) count_primitive(content, primitive, summary);
  return summary;
}

}  // namespace supple
