// SPDX-License-Identifier: Apache-2.0
// MDD caches and EXR images, byte by byte against their descriptions; the EXR is decoded by a reader written here.
#include "support/exr_reader.h"

#include "io/io_tools.h"
#include "supple/io/image/exr.h"
#include "supple/io/motion/mdd.h"

#include <cmath>

namespace supple::point_files_test {
namespace {

TEST(Mdd, HasTheDocumentedBytes) {
  const ScratchFolder folder;
  const std::vector<double> times = {0, 0.5};
  MddWriter writer = MddWriter::open(folder / "a.mdd", 1, times).value();
  ASSERT_TRUE(writer.add_frame(std::vector<Vec3>{{1, 2, -3}}).ok());
  ASSERT_TRUE(writer.add_frame(std::vector<Vec3>{{4, 5, 6}}).ok());
  EXPECT_EQ(folder.file_count(), 1u);  // the unfinished one, under another name
  EXPECT_FALSE(std::filesystem::exists(folder / "a.mdd"));
  ASSERT_TRUE(writer.finish().ok());
  const std::string bytes = read_file(folder / "a.mdd").value();
  ASSERT_EQ(bytes.size(), 8u + 2 * 4 + 2 * 12);
  EXPECT_EQ(bytes.substr(0, 8), std::string("\0\0\0\2\0\0\0\1", 8));
  EXPECT_EQ(bytes.substr(12, 4), std::string("\x3f\0\0\0", 4));    // 0.5
  EXPECT_EQ(bytes.substr(16, 4), std::string("\x3f\x80\0\0", 4));  // 1
  EXPECT_EQ(bytes.substr(24, 4), std::string("\xc0\x40\0\0", 4));  // −3
  const MddCache cache = load_mdd(folder / "a.mdd").value();
  EXPECT_EQ(cache.times, times);
  EXPECT_EQ(cache.frames[1][0], Vec3(4, 5, 6));
  folder.write("cut.mdd", bytes.substr(0, bytes.size() - 1));
  expect_refused(load_mdd(folder / "cut.mdd"), "cut short");
  std::string endless = bytes;
  endless.replace(bytes.size() - 4, 4, "\x7f\x80\0\0", 4);
  expect_refused(parse_mdd(endless, "endless.mdd"), "aren't finite");
  folder.write("tiny.mdd", "abc");
  expect_refused(load_mdd(folder / "tiny.mdd"), "not an MDD");
}

TEST(Exr, ComesBackInBothPrecisions) {
  const ScratchFolder folder;
  for (const ExrPrecision precision : {ExrPrecision::half, ExrPrecision::single}) {
    ExrWriter writer = ExrWriter::open(folder / "a.exr", 5, 3, precision).value();
    const auto pixel = [](int x, int y) { return Vec3(x + 0.25, -y, 1.0 / (1 + x + 7 * y)); };
    for (int y = 0; y < 3; ++y) {
      std::vector<Vec3> row;
      for (int x = 0; x < (y == 2 ? 4 : 5); ++x) row.push_back(pixel(x, y));
      ASSERT_TRUE(writer.add_row(row).ok());
    }
    ASSERT_TRUE(writer.finish().ok());
    const ExrImage image = decode_exr(read_file(folder / "a.exr").value());
    ASSERT_EQ(image.width, 5);
    ASSERT_EQ(image.height, 3);
    const double tolerance = precision == ExrPrecision::half ? 1.0 / 2048 : 1e-7;
    for (int y = 0; y < 3; ++y)
      for (int x = 0; x < (y == 2 ? 4 : 5); ++x)
        EXPECT_LT((image.at(x, y) - pixel(x, y)).cwiseAbs().maxCoeff(), tolerance * (1 + x + y)) << x << " " << y;
    EXPECT_EQ(image.at(4, 2), Vec3(0, 0, 0));
  }
  EXPECT_FALSE(ExrWriter::open(folder / "b.exr", 0, 3, ExrPrecision::half).ok());
}

}  // namespace
}  // namespace supple::point_files_test
