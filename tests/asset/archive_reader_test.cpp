// SPDX-License-Identifier: Apache-2.0
// ArchiveReader: what it hands out, and each thing that it refuses.
#include "supple/asset/archive_reader.h"

#include "support/memory_archive.h"

#include <gtest/gtest.h>

#include <limits>

namespace supple::archive_reader_test {
namespace {

class Reader : public testing::Test {
 protected:
  Reader() {
    ArchiveWriter writer("test");
    MatX matrix(3, 2);
    matrix << 1, 4, 2, 5, 3, 6;
    writer.add("matrix", matrix);
    MatX broken = matrix;
    broken(1, 1) = std::numeric_limits<double>::infinity();
    writer.add("broken", broken);
    writer.add_singles("singles", matrix.cast<float>());
    writer.add("indices", std::vector<Index>{0, 2, 1, 2});
    writer.add("negative", std::vector<Index>{-1, 0});
    writer.add("words", std::string_view("a text"));
    writer.add_number("number", 2.5);
    archive_.emplace(parse_archive(writer.bytes(), storage_).value());
  }

  /// What is wrong after reading.
  template <class Read>
  std::string complaint(const Read& read) {
    ArchiveReader reader(*archive_);
    read(reader);
    return reader.ok() ? "nothing" : reader.status().error().message;
  }
  template <class Read>
  void expect_misfit(const std::string& name, const Read& read) {
    EXPECT_EQ(complaint(read), "the asset's \"" + name + "\" does not fit the rest; build it again");
  }

  std::vector<double> storage_;
  std::optional<Archive> archive_;
};

TEST_F(Reader, GivesWhatWasStored) {
  ArchiveReader reader(*archive_);
  EXPECT_EQ(reader.matrix("matrix", 3, 2)(2, 1), 6);
  EXPECT_EQ(reader.matrix("matrix", ArchiveReader::any, 2).rows(), 3);
  EXPECT_EQ(reader.singles("singles", 3, ArchiveReader::any)(0, 1), 4);
  EXPECT_EQ(reader.points("matrix", 2), (std::vector<Vec3>{Vec3(1, 2, 3), Vec3(4, 5, 6)}));
  EXPECT_EQ(columns_of(reader.points("matrix", 2)), reader.matrix("matrix", 3, 2));
  EXPECT_EQ(reader.indices("indices", 4, 3), (std::vector<Index>{0, 2, 1, 2}));
  EXPECT_EQ(reader.indices("indices", ArchiveReader::any, 3, 2).size(), 4u);
  EXPECT_EQ(reader.indices("negative", 2, 1, 1, -1).front(), -1);
  EXPECT_EQ(reader.number("number"), 2.5);
  EXPECT_EQ(reader.text("words"), "a text");
  EXPECT_TRUE(reader.ok()) << reader.status().error().message;
}

TEST_F(Reader, RefusesOtherShapes) {
  expect_misfit("matrix", [](ArchiveReader& reader) { reader.matrix("matrix", 2, 2); });
  expect_misfit("matrix", [](ArchiveReader& reader) { reader.matrix("matrix", 3, 3); });
  expect_misfit("singles", [](ArchiveReader& reader) { reader.singles("singles", 1, 2); });
  expect_misfit("matrix", [](ArchiveReader& reader) { reader.points("matrix", 3); });
  expect_misfit("matrix", [](ArchiveReader& reader) { reader.number("matrix"); });
}

TEST_F(Reader, RefusesWhatIsNotFinite) {
  expect_misfit("broken", [](ArchiveReader& reader) { reader.matrix("broken", 3, 2); });
  expect_misfit("broken", [](ArchiveReader& reader) { reader.points("broken", 2); });
}

TEST_F(Reader, RefusesIndicesOutOfRange) {
  expect_misfit("indices", [](ArchiveReader& reader) { reader.indices("indices", 4, 2); });
  expect_misfit("indices", [](ArchiveReader& reader) { reader.indices("indices", 3, 9); });
  expect_misfit("indices", [](ArchiveReader& reader) { reader.indices("indices", ArchiveReader::any, 9, 3); });
  expect_misfit("negative", [](ArchiveReader& reader) { reader.indices("negative", 2, 9); });
  expect_misfit("indices", [](ArchiveReader& reader) { EXPECT_EQ(reader.index("indices", 9), 0); });  // four of them
}

TEST_F(Reader, RefusesOtherTypesAndWhatIsMissing) {
  const auto names = [&](const std::string& name, const auto& read) {
    EXPECT_NE(complaint(read).find(name), std::string::npos) << complaint(read);
  };
  names("nowhere", [](ArchiveReader& reader) { reader.matrix("nowhere", 1, 1); });
  names("singles", [](ArchiveReader& reader) { reader.matrix("singles", 3, 2); });
  names("matrix", [](ArchiveReader& reader) { reader.singles("matrix", 3, 2); });
  names("matrix", [](ArchiveReader& reader) { reader.indices("matrix", 6, 9); });
  names("indices", [](ArchiveReader& reader) { reader.text("indices"); });
}

TEST_F(Reader, TheFirstFaultStaysAndTheRestReadsAsEmpty) {
  ArchiveReader reader(*archive_);
  EXPECT_EQ(reader.matrix("matrix", 9, 9).size(), 0);
  EXPECT_EQ(reader.number("nowhere"), 0);
  EXPECT_EQ(reader.text("nowhere"), "");
  EXPECT_TRUE(reader.indices("nowhere", 1, 1).empty());
  reader.misfit("number");
  EXPECT_EQ(reader.status().error().message, "the asset's \"matrix\" does not fit the rest; build it again");
}

}  // namespace
}  // namespace supple::archive_reader_test
