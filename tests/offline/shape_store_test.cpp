// SPDX-License-Identifier: Apache-2.0
// A store of solved shapes finds what fits, and nothing else.
#include "supple/offline/sketch/shape_store.h"

#include "supple/io/file.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace supple::shape_store_test {
namespace {

class Shapes : public testing::Test {
 protected:
  Shapes() : folder_(std::filesystem::temp_directory_path() / ("supple_shapes_" + std::to_string(::getpid()))) {
    problem_.add(1.5).add(std::string_view("bar"));
    shape_ << 1, -0.0, 1e-300, 3;
  }
  ~Shapes() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
  ContentHash problem_;
  VecX shape_ = VecX(4);
};

TEST_F(Shapes, ComeBackForTheSameProblemOnly) {
  const ShapeStore store = ShapeStore::open(folder_ / "deep" / "inside").value();
  EXPECT_FALSE(store.find(7, problem_));
  ASSERT_TRUE(store.save(7, problem_, shape_).ok());
  ASSERT_TRUE(store.find(7, problem_));
  EXPECT_EQ(*store.find(7, problem_), shape_);
  EXPECT_FALSE(store.find(8, problem_));
  EXPECT_FALSE(store.find(7, ContentHash(problem_).add(0)));
}

TEST_F(Shapes, AnyDamagedByteCountsAsMissing) {
  const ShapeStore store = ShapeStore::open(folder_).value();
  ASSERT_TRUE(store.save(0, problem_, shape_).ok());
  const std::filesystem::path path = std::filesystem::directory_iterator(folder_)->path();
  const std::string whole = read_file(path).value();
  for (std::size_t k = 0; k < whole.size(); ++k) {
    std::string damaged = whole;
    damaged[k] ^= 1;
    ASSERT_TRUE(write_file_atomically(path, damaged).ok());
    EXPECT_FALSE(store.find(0, problem_)) << k;
  }
  for (const std::size_t size : {std::size_t{0}, std::size_t{8}, whole.size() - 1}) {
    ASSERT_TRUE(write_file_atomically(path, whole.substr(0, size)).ok());
    EXPECT_FALSE(store.find(0, problem_)) << size;
  }
}

}  // namespace
}  // namespace supple::shape_store_test
