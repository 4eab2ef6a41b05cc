// SPDX-License-Identifier: Apache-2.0
// Files that belong together appear together or not at all; inputs stay; what a killed process leaves goes, and what a
// living one writes stays.
#include "supple/io/file_transaction.h"

#include "supple/io/file.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>

namespace supple::file_transaction_test {
namespace {

namespace fs = std::filesystem;

class Transactions : public testing::Test {
 protected:
  void SetUp() override {
    folder = fs::temp_directory_path() / ("supple_transaction_" + std::to_string(::getpid()));
    fs::remove_all(folder);
    fs::create_directories(folder);
  }
  void TearDown() override { fs::remove_all(folder); }

  static void spill(const fs::path& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }
  static std::string slurp(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream bytes;
    bytes << file.rdbuf();
    return bytes.str();
  }
  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder)) found.insert(entry.path().filename().string());
    return found;
  }
  /// A child that has written half a file into the folder and now waits; gives its process.
  pid_t start_writer() const {
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      Result<AtomicFile> file = AtomicFile::open(folder / "film.pc2");
      if (!file.ok() || !file->write(std::string(100000, 'x')).ok()) ::_exit(1);
      if (::write(ready[1], "x", 1) != 1) ::_exit(1);
      for (;;) ::pause();
    }
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    ::close(ready[0]);
    ::close(ready[1]);
    return child;
  }
  static void kill_and_wait(pid_t child) {
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
  }

  fs::path folder;
};

TEST_F(Transactions, FilesAppearTogether) {
  spill(folder / "a", "old");
  FileTransaction files;
  ASSERT_TRUE(write_file_atomically(folder / "a", "new a").ok());
  ASSERT_TRUE(write_file_atomically(folder / "b", "new b").ok());
  EXPECT_EQ(slurp(folder / "a"), "old");
  EXPECT_FALSE(fs::exists(folder / "b"));
  EXPECT_EQ(read_file(folder / "b").value(), "new b") << "the writer itself sees what waits";
  EXPECT_EQ(written_size(folder / "b"), 5u);
  ASSERT_TRUE(files.commit().ok());
  EXPECT_EQ(slurp(folder / "a"), "new a");
  EXPECT_EQ(slurp(folder / "b"), "new b");
  EXPECT_EQ(names(), (std::set<std::string>{"a", "b"}));
}

TEST_F(Transactions, WithoutCommitNothingHasChanged) {
  spill(folder / "a", "old");
  {
    FileTransaction files;
    ASSERT_TRUE(files.make_folder(folder / "deep" / "er").ok());
    ASSERT_TRUE(write_file_atomically(folder / "a", "new").ok());
    ASSERT_TRUE(write_file_atomically(folder / "deep" / "er" / "b", "new").ok());
  }
  EXPECT_EQ(names(), (std::set<std::string>{"a"}));
  EXPECT_EQ(slurp(folder / "a"), "old");
}

TEST_F(Transactions, WhatIsKeptAtOnceDoesntWait) {
  FileTransaction files;
  ASSERT_TRUE(write_file_atomically(folder / "cached", "x", Appear::at_once).ok());
  EXPECT_TRUE(fs::exists(folder / "cached"));
}

TEST_F(Transactions, AnInnerOneHandsItsFilesToTheOuter) {
  FileTransaction outer;
  {
    FileTransaction inner;
    ASSERT_TRUE(write_file_atomically(folder / "a", "1").ok());
    ASSERT_TRUE(inner.commit().ok());
  }
  EXPECT_FALSE(fs::exists(folder / "a"));
  ASSERT_TRUE(outer.commit().ok());
  EXPECT_EQ(slurp(folder / "a"), "1");
}

/// The second can't be renamed because a folder has taken its name meanwhile: the first comes back.
TEST_F(Transactions, OneThatFailsTakesTheOthersBack) {
  spill(folder / "a", "old");
  FileTransaction files;
  for (const char* name : {"a", "b", "c"}) ASSERT_TRUE(write_file_atomically(folder / name, "new").ok());
  fs::create_directories(folder / "c" / "full");
  EXPECT_FALSE(files.commit().ok());
  EXPECT_EQ(slurp(folder / "a"), "old");
  EXPECT_EQ(names(), (std::set<std::string>{"a", "c"}));
}

TEST_F(Transactions, InputsAreNotReplaced) {
  spill(folder / "in", "old");
  fs::create_symlink(folder / "in", folder / "link");
  FileTransaction files;
  ASSERT_TRUE(read_file(folder / "in").ok());
  for (const char* name : {"in", "link"}) {
    const Status refused = write_file_atomically(folder / name, "new");
    ASSERT_FALSE(refused.ok()) << name;
    EXPECT_EQ(refused.error().kind, ErrorKind::usage);
    EXPECT_FALSE(check_output(folder / name).ok());
  }
  files.allow_replacing_inputs();
  EXPECT_TRUE(write_file_atomically(folder / "in", "new").ok());
}

TEST_F(Transactions, OneNameIsWrittenOnce) {
  FileTransaction files;
  ASSERT_TRUE(write_file_atomically(folder / "a", "1").ok());
  EXPECT_FALSE(write_file_atomically(folder / "." / "a", "2").ok());
}

TEST_F(Transactions, OutputsAreCheckedBeforeTheWork) {
  EXPECT_TRUE(check_output(folder / "new").ok());
  EXPECT_EQ(check_output(folder / "missing" / "x").error().kind, ErrorKind::input);
  EXPECT_EQ(check_output(folder).error().kind, ErrorKind::input);
  spill(folder / "file", "");
  EXPECT_EQ(check_output(folder / "file" / "x").error().kind, ErrorKind::input);
  EXPECT_EQ(names(), (std::set<std::string>{"file"}));
}

TEST_F(Transactions, WhatAKilledProcessLeftIsRemovedByTheNext) {
  spill(folder / ".supple-notes.tmp", "a user's");
  spill(folder / ".film.pc2.tmp", "a user's");
  kill_and_wait(start_writer());
  EXPECT_EQ(names().size(), 3u) << "the child left its file";
  ASSERT_TRUE(write_file_atomically(folder / "other", "x").ok());
  EXPECT_EQ(names(), (std::set<std::string>{".film.pc2.tmp", ".supple-notes.tmp", "other"}));
}

/// Somebody may give a folder a name of ours, and put things into it.
TEST_F(Transactions, WhatIsntOursStaysInAFolderThatLooksLikeOurs) {
  fs::create_directories(folder / ".supple-1-2.tmp/album");
  spill(folder / ".supple-1-2.tmp/1-half.pc2", "ours");
  spill(folder / ".supple-1-2.tmp/notes.txt", "a user's");
  spill(folder / ".supple-1-2.tmp/album/1-photo.jpg", "a user's");
  ASSERT_TRUE(write_file_atomically(folder / "other", "x").ok());
  EXPECT_FALSE(fs::exists(folder / ".supple-1-2.tmp/1-half.pc2"));
  EXPECT_TRUE(fs::exists(folder / ".supple-1-2.tmp/notes.txt"));
  EXPECT_TRUE(fs::exists(folder / ".supple-1-2.tmp/album/1-photo.jpg"));
}

TEST_F(Transactions, WhatALivingProcessWritesStays) {
  const pid_t child = start_writer();
  ASSERT_TRUE(write_file_atomically(folder / "other", "x").ok());
  EXPECT_EQ(names().size(), 2u);
  kill_and_wait(child);
}

}  // namespace
}  // namespace supple::file_transaction_test
