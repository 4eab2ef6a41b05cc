// SPDX-License-Identifier: Apache-2.0
// The writer is checked by a reader of its own, written from the format's description: XML tags, base64, zlib blocks.
#include "supple/io/mesh/vtu.h"

#include "supple/io/file.h"
#include "supple/mesh/box.h"
#include "supple/mesh/topology.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>

namespace supple::vtu_test {
namespace {

std::string decode_base64(std::string_view text) {
  const std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned buffer = 0;
  int bits = 0;
  for (const char c : text) {
    if (c == '=') break;
    buffer = buffer << 6 | static_cast<unsigned>(digits.find(c));
    if ((bits += 6) >= 8) bytes += static_cast<char>(buffer >> (bits -= 8) & 255);
  }
  return bytes;
}

std::uint64_t word(const std::string& bytes, std::size_t index) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + 8 * index, 8);
  return value;
}

// The bytes of the array called `name`.
std::string array_bytes(const std::string& xml, const std::string& name) {
  const std::size_t tag = xml.find("Name=\"" + name + "\"");
  if (tag == std::string::npos) return {};
  const std::size_t begin = xml.find('>', tag) + 1;
  const std::string_view text = std::string_view(xml).substr(begin, xml.find('<', begin) - begin);
  const std::uint64_t blocks = word(decode_base64(text.substr(0, 12)), 0);
  const std::size_t header_text = (8 * (3 + blocks) + 2) / 3 * 4;
  const std::string header = decode_base64(text.substr(0, header_text));
  const std::string data = decode_base64(text.substr(header_text));
  std::string out;
  std::size_t offset = 0;
  for (std::uint64_t b = 0; b < blocks; ++b) {
    const bool partial = b + 1 == blocks && word(header, 2) != 0;
    std::string block(partial ? word(header, 2) : word(header, 1), '\0');
    uLongf size = block.size();
    EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(block.data()), &size,
                         reinterpret_cast<const Bytef*>(data.data() + offset), word(header, 3 + b)),
              Z_OK);
    EXPECT_EQ(size, block.size());
    offset += word(header, 3 + b);
    out += block;
  }
  EXPECT_EQ(offset, data.size());
  return out;
}

template <class T>
std::vector<T> array(const std::string& xml, const std::string& name) {
  const std::string bytes = array_bytes(xml, name);
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

// Opening and closing tags match, as XML wants it.
bool tags_balance(const std::string& xml) {
  std::vector<std::string> open;
  for (std::size_t at = xml.find('<', 1); at != std::string::npos; at = xml.find('<', at + 1)) {
    const std::size_t end = xml.find('>', at);
    const std::string tag = xml.substr(at + 1, end - at - 1);
    const std::string name = tag.substr(0, tag.find_first_of(" /", 1));
    if (tag.back() == '/') continue;
    if (tag[0] != '/')
      open.push_back(name);
    else if (open.empty() || "/" + open.back() != name)
      return false;
    else
      open.pop_back();
  }
  return open.empty();
}

TEST(Vtu, TetMeshWithFieldsComesBack) {
  const TetMesh mesh = make_tet_box(Vec3(1, 2, 3), {2, 2, 2});
  VecX u = VecX::LinSpaced(3 * 27, -1, 1);
  std::vector<double> stress(mesh.elements.size(), 4.25);
  const Result<std::string> xml = vtu_bytes(mesh, {{vtu_vectors("mode 1 <3.2 Hz>", u)}, {{"von Mises", 1, stress}}});
  ASSERT_TRUE(xml.ok());
  EXPECT_TRUE(tags_balance(*xml));
  const auto points = array<double>(*xml, "Points");
  ASSERT_EQ(points.size(), 3 * mesh.vertices.size());
  EXPECT_EQ(Vec3(points[3], points[4], points[5]), mesh.vertices[1]);
  const auto corners = array<std::int32_t>(*xml, "connectivity");
  ASSERT_EQ(corners.size(), 4 * mesh.elements.size());
  EXPECT_EQ(corners[7], mesh.elements[1][3]);
  EXPECT_EQ(array<std::int64_t>(*xml, "offsets").back(), static_cast<std::int64_t>(corners.size()));
  EXPECT_EQ(array<std::uint8_t>(*xml, "types"), std::vector<std::uint8_t>(mesh.elements.size(), 10));
  EXPECT_EQ(array<double>(*xml, "mode 1 &lt;3.2 Hz&gt;"), std::vector<double>(u.begin(), u.end()));
  EXPECT_EQ(array<double>(*xml, "von Mises"), stress);
}

TEST(Vtu, LongArraysTakeSeveralBlocks) {
  const TetMesh mesh = make_tet_box(Vec3(1, 1, 1), {24, 24, 24});  // 375 kB of points, 1.3 MB of corners
  const Result<std::string> xml = vtu_bytes(mesh);
  ASSERT_TRUE(xml.ok());
  const auto corners = array<std::int32_t>(*xml, "connectivity");
  ASSERT_EQ(corners.size(), 4 * mesh.elements.size());
  EXPECT_EQ(std::memcmp(corners.data(), mesh.elements.data(), corners.size() * 4), 0);
  EXPECT_EQ(array<double>(*xml, "Points").size(), 3 * mesh.vertices.size());
}

TEST(Vtu, BricksSurfacesAndEmptyMeshes) {
  const HexMesh bricks = make_hex_box(Vec3(1, 1, 1), {2, 1, 1});
  EXPECT_EQ(array<std::uint8_t>(*vtu_bytes(bricks), "types"), (std::vector<std::uint8_t>{12, 12}));
  const Surface skin = boundary_surface(bricks).surface;
  EXPECT_EQ(array<std::uint8_t>(*vtu_bytes(skin), "types"), std::vector<std::uint8_t>(20, 5));
  const Result<std::string> empty = vtu_bytes(TetMesh{});
  ASSERT_TRUE(empty.ok());
  EXPECT_TRUE(tags_balance(*empty));
  EXPECT_TRUE(array<double>(*empty, "Points").empty());
}

TEST(Vtu, RefusesFieldsThatDoNotFit) {
  const TetMesh mesh = make_tet_box(Vec3(1, 1, 1), {1, 1, 1});
  EXPECT_FALSE(vtu_bytes(mesh, {{{"short", 1, {1, 2}}}, {}}).ok());
  const VtuArray twice{"same", 1, std::vector<double>(8, 0.0)};
  EXPECT_FALSE(vtu_bytes(mesh, {{twice, twice}, {}}).ok());
  const Status status = write_vtu("/nonexistent/folder/x.vtu", mesh);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("/nonexistent/folder/x.vtu"), std::string::npos);
}

TEST(Vtu, SeriesListsItsFrames) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "supple_series.pvd";
  ASSERT_TRUE(write_pvd(path, std::vector<PvdFrame>{{0, "a&b_0.vtu"}, {0.5, "a&b_1.vtu"}}).ok());
  const Result<std::string> xml = read_file(path);
  ASSERT_TRUE(xml.ok());
  EXPECT_TRUE(tags_balance(*xml));
  EXPECT_NE(xml->find("timestep=\"0.5\" group=\"\" part=\"0\" file=\"a&amp;b_1.vtu\""), std::string::npos);
}

}  // namespace
}  // namespace supple::vtu_test
