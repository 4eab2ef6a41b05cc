// SPDX-License-Identifier: Apache-2.0
#include "supple/io/motion/pc2.h"

#include <gtest/gtest.h>

#include <cstring>

namespace supple::pc2_test {
namespace {

std::filesystem::path fresh(const std::string& name) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / name;
  std::filesystem::remove(path);
  return path;
}

TEST(Pc2, HasTheDocumentedBytes) {
  const auto path = fresh("two.pc2");
  auto writer = Pc2Writer::open(path, {.points = 2, .start_frame = 3, .frames_per_sample = 0.5f, .samples = 2}).value();
  ASSERT_TRUE(writer.add_sample(std::vector<Vec3>{{1, 2, 3}, {4, 5, 6}}).ok());
  ASSERT_TRUE(writer.add_sample(std::vector<Vec3>{{7, 8, 9}, {-1, -2, 0.25}}).ok());
  EXPECT_FALSE(std::filesystem::exists(path));
  ASSERT_TRUE(writer.finish().ok());
  const std::string bytes = read_file(path).value();
  ASSERT_EQ(bytes.size(), 32u + 2 * 2 * 12);
  EXPECT_EQ(bytes.substr(0, 12), std::string("POINTCACHE2\0", 12));
  std::int32_t whole[2];
  std::memcpy(whole, bytes.data() + 12, 8);
  EXPECT_EQ(whole[0], 1);
  EXPECT_EQ(whole[1], 2);
  float numbers[2];
  std::memcpy(numbers, bytes.data() + 20, 8);
  EXPECT_EQ(numbers[0], 3.0f);
  EXPECT_EQ(numbers[1], 0.5f);
  float last = 0;
  std::memcpy(&last, bytes.data() + bytes.size() - 4, 4);
  EXPECT_EQ(last, 0.25f);
}

TEST(Pc2, ReadsBackAndRefusesCutFiles) {
  const auto path = fresh("back.pc2");
  auto writer = Pc2Writer::open(path, {.points = 1, .samples = 3}).value();
  for (int k = 0; k < 3; ++k) ASSERT_TRUE(writer.add_sample(std::vector<Vec3>{Vec3(k, 0.5, -k)}).ok());
  ASSERT_TRUE(writer.finish().ok());
  const PointCache cache = load_pc2(path).value();
  ASSERT_EQ(cache.samples.size(), 3u);
  EXPECT_EQ(cache.samples[2][0], Vec3(2, 0.5, -2));
  const std::string bytes = read_file(path).value();
  ASSERT_TRUE(write_file_atomically(path, bytes.substr(0, bytes.size() - 1)).ok());
  EXPECT_NE(load_pc2(path).error().message.find("cut short"), std::string::npos);
}

TEST(Pc2, AnUnfinishedFileLeavesWhatWasThere) {
  const auto path = fresh("old.pc2");
  ASSERT_TRUE(write_file_atomically(path, "old").ok());
  {
    auto writer = Pc2Writer::open(path, {.points = 1, .samples = 2}).value();
    ASSERT_TRUE(writer.add_sample(std::vector<Vec3>{Vec3::Zero()}).ok());
  }
  EXPECT_EQ(read_file(path).value(), "old");
  for (const auto& entry : std::filesystem::directory_iterator(path.parent_path()))
    EXPECT_EQ(entry.path().filename().string().find(".old.pc2."), std::string::npos);
}

}  // namespace
}  // namespace supple::pc2_test
