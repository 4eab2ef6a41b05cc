// SPDX-License-Identifier: Apache-2.0
// Files as they shouldn't be: cut anywhere, full of rubbish, of another format, not there, not writable.
#include "io/io_tools.h"
#include "supple/io/file.h"
#include "supple/io/mesh/vertex_list.h"
#include "supple/io/text_scanner.h"

#include <csignal>
#include <random>

#include <sys/resource.h>

namespace supple::bad_files_test {
namespace {

std::string content(const std::filesystem::path& path) {
  const Result<std::string> bytes = read_file(path);
  return bytes.ok() ? *bytes : "(unreadable)";
}

TEST(BadFiles, TruncationAnywhereIsHarmless) {
  const ScratchFolder folder;
  const auto write_samples = [&](Encoding encoding, GmshVersion version) {
    for (const std::string& extension : writable_extensions()) {
      const auto path = folder / ("a" + extension);
      const bool saved = save_mesh(sample_tets(), path, {version, encoding}).ok() ||
                         save_mesh(sample_surface(), path, {version, encoding}).ok();
      ASSERT_TRUE(saved);
      const std::string bytes = content(path);
      const std::size_t complete = bytes.size() - bytes.size() / 3;
      for (std::size_t length = 0; length < bytes.size(); length += 41) {
        const auto cut = folder.write("cut" + extension, bytes.substr(0, length));
        if (extension == ".node" || extension == ".ele")
          std::filesystem::copy_file(folder / (extension == ".node" ? "a.ele" : "a.node"),
                                     folder / (extension == ".node" ? "cut.ele" : "cut.node"),
                                     std::filesystem::copy_options::overwrite_existing);
        const Result<LoadedMesh> loaded = load_mesh(cut);
        // OBJ is readable line by line and text STL solid by solid, so part of them is a mesh; everything else must
        // notice a missing third. (Every single byte: see the replay of the fuzzers' corpora.)
        const bool in_pieces = extension == ".obj" || (extension == ".stl" && encoding == Encoding::ascii);
        if (loaded.ok())
          ASSERT_TRUE(in_pieces || length >= complete) << extension << " cut at " << length;
        else
          ASSERT_TRUE(loaded.error().message.ends_with('.')) << loaded.error().message;
      }
    }
  };
  write_samples(Encoding::ascii, GmshVersion::v2_2);
  write_samples(Encoding::binary, GmshVersion::v4_1);
}

TEST(BadFiles, RubbishIsRefused) {
  const ScratchFolder folder;
  std::mt19937 random(7);
  for (const std::string& extension : readable_extensions()) {
    for (int round = 0; round < 20; ++round) {
      std::string bytes(to_size(random() % 5000 + 1), '\0');
      for (char& c : bytes) c = static_cast<char>(random());
      expect_refused(load_mesh(folder.write("rubbish" + extension, bytes)), "rubbish");
    }
  }
}

TEST(BadFiles, NotAFileAtAll) {
  const ScratchFolder folder;
  for (const std::string& extension : readable_extensions()) {
    expect_refused(load_mesh(folder / ("gone" + extension)), "There is no file");
    expect_refused(load_mesh(folder.write("empty" + extension, "")), "is empty");
    std::filesystem::create_directory(folder / ("folder" + extension));
    expect_refused(load_mesh(folder / ("folder" + extension)), "is a folder");
  }
  expect_refused(load_mesh("/dev/zero"), "isn't an ordinary file");
}

TEST(BadFiles, OtherFormatsAreNamed) {
  const ScratchFolder folder;
  expect_refused(load_mesh(folder.write("a.fbx", "Kaydara FBX Binary  ")), "FBX");
  expect_refused(load_mesh(folder.write("b.obj", "Kaydara FBX Binary  ")), "FBX");
  expect_refused(load_mesh(folder.write("a.blend", "BLENDER")), "Blender");
  expect_refused(load_mesh(folder.write("a.usdz", "PK")), "USD");
  expect_refused(load_mesh(folder.write("a.dae", "<xml>")), "the mesh as OBJ or PLY");
  expect_refused(load_mesh(folder.write("a.txt", "hello")), "isn't a mesh we recognise");
}

TEST(BadFiles, AWrongExtensionIsOvercomeWithAWarning) {
  const ScratchFolder folder;
  ASSERT_TRUE(save_mesh(sample_surface(), folder / "a.ply").ok());
  std::filesystem::rename(folder / "a.ply", folder / "a.obj");
  const Result<LoadedMesh> loaded = load_mesh(folder / "a.obj");
  expect_same_geometry(get_mesh<Surface>(loaded), sample_surface());
  ASSERT_EQ(loaded->warnings.size(), 1u);
  EXPECT_NE(loaded->warnings[0].find("PLY"), std::string::npos);
  ASSERT_TRUE(save_mesh(sample_tets(), folder / "b.msh").ok());
  std::filesystem::rename(folder / "b.msh", folder / "b");
  EXPECT_TRUE(load_mesh(folder / "b").ok());
}

TEST(BadFiles, IncludedFilesComeFromTheSameFolder) {
  const ScratchFolder folder;
  const auto main =
      folder.write("a.veg",
                   "*VERTICES\n4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n*ELEMENTS\nTET\n1 4 0\n1 1 2 3 4\n"
                   "*SET s\n*INCLUDE list.txt\n");
  expect_refused(load_mesh(main), "list.txt");
  folder.write("list.txt", "1\n");
  EXPECT_EQ(get_mesh<TetMesh>(load_mesh(main)).sets.size(), 1u);
  folder.write("list.txt", "*INCLUDE a.veg\n");
  expect_refused(load_mesh(main), "includes itself");
}

TEST(Writing, RefusesFormatsThatCantHoldTheMesh) {
  const ScratchFolder folder;
  const Status tets = save_mesh(sample_tets(), folder / "a.obj");
  ASSERT_FALSE(tets.ok());
  EXPECT_EQ(tets.error().kind, ErrorKind::usage);
  EXPECT_NE(tets.error().message.find(".veg, .msh, .mesh, .node, .ele"), std::string::npos);
  EXPECT_FALSE(save_mesh(sample_bricks(), folder / "a.ele").ok());
  EXPECT_FALSE(save_mesh(sample_surface(), folder / "a.veg").ok());
  EXPECT_FALSE(save_mesh(sample_surface(), folder / "a.xyz").ok());
  EXPECT_EQ(folder.file_count(), 0u);
}

TEST(Writing, SaysWhatIsWrongWithTheTarget) {
  const ScratchFolder folder;
  const Status missing = save_mesh(sample_surface(), folder / "no/such/a.obj");
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().message.find("doesn't exist"), std::string::npos);
  std::filesystem::create_directory(folder / "dir.obj");
  const Status directory = save_mesh(sample_surface(), folder / "dir.obj");
  ASSERT_FALSE(directory.ok());
  EXPECT_NE(directory.error().message.find("is a folder"), std::string::npos);
  const Status full = write_file_atomically("/dev/full", "bytes");
  ASSERT_FALSE(full.ok());
  EXPECT_NE(full.error().message.find("No space left"), std::string::npos);
}

TEST(Writing, RefusesAReadOnlyFolder) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
  const ScratchFolder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  const Status status = save_mesh(sample_surface(), folder / "a.obj");
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("Permission denied"), std::string::npos);
}

// A limit on file sizes stops the write halfway, as a full disk does.
TEST(Writing, InterruptedHalfwayLeavesTheOldFile) {
  const ScratchFolder folder;
  const auto path = folder.write("a.obj", "old");
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit{};
  ::getrlimit(RLIMIT_FSIZE, &old_limit);
  const rlimit small{1000, old_limit.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  const Status status = write_file_atomically(path, std::string(5000, 'x'));
  ::setrlimit(RLIMIT_FSIZE, &old_limit);
  std::signal(SIGXFSZ, old_handler);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("as it was before"), std::string::npos) << status.error().message;
  EXPECT_EQ(content(path), "old");
  EXPECT_EQ(folder.file_count(), 1u);
}

TEST(Writing, KeepsPermissionsAndLinks) {
  const ScratchFolder folder;
  const auto path = folder.write("a.obj", "old");
  std::filesystem::permissions(path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  std::filesystem::create_symlink("a.obj", folder / "link.obj");
  ASSERT_TRUE(write_file_atomically(folder / "link.obj", "new").ok());
  EXPECT_EQ(content(path), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.obj"));
  EXPECT_EQ(std::filesystem::status(path).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  EXPECT_EQ(folder.file_count(), 2u);
}

TEST(VertexList, IsSortedUniqueAndChecked) {
  const auto list = parse_vertex_list("7,3,\r\n3 5\t# and a comment\n1,", "a.bou", 7);
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(*list, (std::vector<Index>{0, 2, 4, 6}));
  EXPECT_FALSE(parse_vertex_list("8", "a.bou", 7).ok());
  EXPECT_FALSE(parse_vertex_list("0", "a.bou", 7).ok());
  EXPECT_FALSE(parse_vertex_list("1, two", "a.bou", 7).ok());
  EXPECT_TRUE(parse_vertex_list("", "a.bou", 7)->empty());
  EXPECT_FALSE(load_vertex_list("/no/such/file", 7).ok());
}

TEST(TextScanner, NumbersAreReadExactly) {
  const std::pair<const char*, double> good[] = {{"0.1", 0.1},      {"+1.5", 1.5}, {"-.5e-3", -.5e-3},
                                                 {"1.5D+03", 1500}, {"1d2", 100},  {"5e-324", 5e-324},
                                                 {"1e-400", 0},     {"1.", 1},     {"1E5", 100000}};
  for (const auto& [text, value] : good) {
    double read = -1;
    EXPECT_TRUE(parse_number(text, read)) << text;
    EXPECT_EQ(read, value) << text;
  }
  double ignored = 0;
  for (const char* bad : {"", "+", "-", "1,5", "1x", "0x10", "+-1", "++1", "1 2", "e5", "."})
    EXPECT_FALSE(parse_number(bad, ignored)) << bad;
  Index index = 0;
  EXPECT_TRUE(parse_number("+12", index));
  EXPECT_EQ(index, 12);
  for (const char* bad : {"1.0", "2147483648", "", "1e3"}) EXPECT_FALSE(parse_number(bad, index)) << bad;
}

TEST(TextScanner, LinesAreCountedWhateverTheirEnds) {
  for (const std::string text : {"a\nb\n\n# c\nd x\n", "a\r\nb\r\n\r\n# c\r\nd x\r\n", "a\rb\r\r# c\rd x\r"}) {
    TextScanner scanner(text, "f", {.comment = '#'});
    TextScanner line = scanner;
    ASSERT_TRUE(scanner.next_line(line) && scanner.next_line(line) && scanner.next_line(line));
    EXPECT_EQ(line.token(), "d");
    double value = 0;
    EXPECT_FALSE(line.read(value));
    EXPECT_EQ(line.error().message, "f, line 5: expected a number but found \"x\"; the file is damaged.");
    EXPECT_FALSE(scanner.next_line(line));
  }
}

}  // namespace
}  // namespace supple::bad_files_test
