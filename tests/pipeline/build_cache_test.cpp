// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/build_cache.h"

#include "supple/asset/character_archive.h"
#include "supple/io/file.h"
#include "supple/mesh/box.h"
#include "supple/offline/posespace/reduce_body.h"
#include "supple/offline/stage_archives.h"
#include "support/soft_limb.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

namespace supple::build_cache_test {
namespace {

class BuildCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() / ("supple_cache_test_" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::vector<std::filesystem::path> entries() const {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry.path());
    return paths;
  }

  std::filesystem::path folder;
};

void spill(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

ContentHash content(int number) { return ContentHash().add(number); }

// ---- content --------------------------------------------------------------------------------------------------------

TEST(ContentHash, ChangesWithEveryBitAndWithEveryBorder) {
  std::set<std::string> seen;
  std::vector<double> values(9, 0.5);
  seen.insert(ContentHash().add(values).text());
  for (std::size_t k = 0; k < sizeof(double) * values.size(); ++k) {
    std::vector<double> changed = values;
    reinterpret_cast<unsigned char*>(changed.data())[k] ^= 1u;
    EXPECT_TRUE(seen.insert(ContentHash().add(changed).text()).second) << k;
  }
  EXPECT_TRUE(seen.insert(ContentHash().add(std::string_view("ab")).add(std::string_view("c")).text()).second);
  EXPECT_TRUE(seen.insert(ContentHash().add(std::string_view("a")).add(std::string_view("bc")).text()).second);
  EXPECT_TRUE(seen.insert(ContentHash().add(MatX(MatX::Zero(2, 3))).text()).second);
  EXPECT_TRUE(seen.insert(ContentHash().add(MatX(MatX::Zero(3, 2))).text()).second);
  EXPECT_TRUE(seen.insert(ContentHash().text()).second);
  EXPECT_EQ(ContentHash().text().size(), 32u);
}

// ---- the folder -----------------------------------------------------------------------------------------------------

TEST_F(BuildCacheTest, FindsWhatItKept) {
  BuildCache cache(folder);
  EXPECT_FALSE(cache.find("tets", content(1)));
  cache.keep("tets", content(1), std::string("a\0b", 3));
  EXPECT_EQ(BuildCache(folder).find("tets", content(1)), std::string("a\0b", 3));
  EXPECT_FALSE(cache.find("tets", content(2)));
  EXPECT_FALSE(cache.find("basis", content(1)));
}

TEST_F(BuildCacheTest, DamagedEntriesAreNeverUsed) {
  BuildCache cache(folder);
  cache.keep("tets", content(1), "the tetrahedra");
  const std::filesystem::path entry = entries().at(0);
  const std::string good = read_file(entry).value();
  for (std::size_t k = 0; k <= good.size(); ++k) {
    std::string bad = good.substr(0, k);  // cut short, and with one byte changed
    if (k < good.size()) {
      spill(entry, bad);
      EXPECT_FALSE(cache.find("tets", content(1))) << k;
      bad = good;
      bad[k] = static_cast<char>(bad[k] ^ 4);
    } else {
      bad = good + "x";
    }
    spill(entry, bad);
    EXPECT_FALSE(cache.find("tets", content(1))) << k;
    // What doesn't begin as our entries do may be somebody else's: it isn't used, and stays.
    EXPECT_EQ(std::filesystem::exists(entry), !bad.starts_with(good.substr(0, 8))) << k;
  }
  std::filesystem::remove(entry);
  cache.keep("tets", content(1), "the tetrahedra");
  EXPECT_EQ(cache.find("tets", content(1)), "the tetrahedra");
}

TEST_F(BuildCacheTest, AnEntryUnderAnothersNameIsNotUsed) {
  BuildCache cache(folder);
  cache.keep("tets", content(1), "one");
  const std::filesystem::path one = entries().at(0);
  cache.keep("tets", content(2), "two");
  for (const auto& entry : entries())
    if (entry != one) std::filesystem::copy_file(entry, one, std::filesystem::copy_options::overwrite_existing);
  EXPECT_FALSE(cache.find("tets", content(1)));
}

TEST_F(BuildCacheTest, StaysWithinItsSizeAndForgetsTheOldestFirst) {
  const std::string kilobyte(1000, 'x');
  BuildCache cache(folder, 5000);
  for (int k = 0; k < 4; ++k) {
    cache.keep("tets", content(k), kilobyte);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_TRUE(cache.find("tets", content(0)));  // used again, so the second is the oldest now
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  cache.keep("tets", content(4), kilobyte);
  EXPECT_TRUE(cache.find("tets", content(0)));
  EXPECT_FALSE(cache.find("tets", content(1)));
  EXPECT_TRUE(cache.find("tets", content(4)));
}

TEST_F(BuildCacheTest, AFolderThatCannotBeWrittenKeepsNothing) {
  spill(folder, "a file");
  BuildCache cache(folder / "cache");
  cache.keep("tets", content(1), "one");
  EXPECT_FALSE(cache.find("tets", content(1)));
}

/// Processes that write and read the same few entries all the time: whatever is found is whole.
TEST_F(BuildCacheTest, SeveralProcessesAtOnceSeeWholeEntriesOnly) {
  const auto text = [](int key) { return std::string(to_size(20'000 + 1000 * key), static_cast<char>('a' + key)); };
  std::vector<pid_t> children;
  for (int child = 0; child < 3; ++child) {
    const pid_t id = ::fork();
    if (id == 0) {
      BuildCache cache(folder, 60'000);  // so small that entries are also thrown out meanwhile
      int wrong = 0;
      for (int round = 0; round < 40; ++round) {
        const int key = (round + child) % 4;
        cache.keep("tets", content(key), text(key));
        for (int other = 0; other < 4; ++other) {
          const auto found = cache.find("tets", content(other));
          if (found && *found != text(other)) ++wrong;
        }
      }
      ::_exit(wrong == 0 ? 0 : 1);
    }
    children.push_back(id);
  }
  for (const pid_t id : children) {
    int status = -1;
    ::waitpid(id, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  for (const auto& entry : entries()) EXPECT_NE(entry.extension(), ".tmp");
}

// ---- stages ---------------------------------------------------------------------------------------------------------

TEST(StageArchives, TetrahedraComeBackExactly) {
  const TetMesh box = make_tet_box(Vec3(1, 2, 3), {2, 2, 2});
  TetMeshingResult meshed{box, {}};
  meshed.report.cube = 0.125;
  meshed.report.thin_nodes = 3;
  meshed.report.input_to_skin.max = 1e-7;
  const TetMeshingResult again = decode_meshing(encode_stage(meshed)).value();
  EXPECT_EQ(again.mesh.vertices, box.vertices);
  EXPECT_EQ(again.mesh.elements, box.elements);
  EXPECT_EQ(again.report.cube, 0.125);
  EXPECT_EQ(again.report.thin_nodes, 3);
  EXPECT_EQ(again.report.input_to_skin.max, 1e-7);
  EXPECT_FALSE(decode_meshing("something else").ok());
}

std::string built(const SoftLimb& limb, ReduceSettings settings, StageStore& store) {
  settings.store = &store;
  const ReducedBody reduced = reduce_limb(limb, settings);
  CharacterAsset asset;
  asset.model = reduced.model;
  return encode_character(asset).value();
}

TEST_F(BuildCacheTest, BasesAndCubatureAreFoundAndTheResultIsTheSame) {
  const SoftLimb limb = make_soft_limb();
  ReduceSettings settings = small_reduction();
  settings.poses.push_back({limb_pose(limb, {{}, 1.2, 0.3}).p, {}});
  const std::string plain = built(limb, settings, StageStore::none());
  BuildCache first(folder), second(folder);
  EXPECT_EQ(built(limb, settings, first), plain);
  EXPECT_EQ(first.made(), (std::vector<std::string>{"basis", "cubature"}));
  EXPECT_EQ(built(limb, settings, second), plain);
  EXPECT_EQ(second.found(), (std::vector<std::string>{"basis", "cubature"}));
  EXPECT_TRUE(second.made().empty());
}

TEST_F(BuildCacheTest, AChangeRebuildsWhatItTouches) {
  const SoftLimb limb = make_soft_limb();
  ReduceSettings settings = small_reduction();
  settings.poses.push_back({limb_pose(limb, {{}, 1.2, 0.3}).p, {}});
  BuildCache first(folder), coarser(folder), painted(folder);
  built(limb, settings, first);
  const std::size_t after_first = entries().size();
  // Another number of cubature elements leaves the bases.
  settings.cubature_elements = 20;
  built(limb, settings, coarser);
  EXPECT_EQ(coarser.found(), (std::vector<std::string>{"basis"}));
  EXPECT_EQ(coarser.made(), (std::vector<std::string>{"cubature"}));
  EXPECT_EQ(entries().size(), after_first + 1);
  // A material of one pose leaves the basis of the other.
  settings.poses[0].materials.assign(limb.body.mesh.elements.size(), ElasticMaterial{"firm", 5e4, 0.4, 1000});
  built(limb, settings, painted);
  EXPECT_EQ(painted.found(), (std::vector<std::string>{"basis"}));
  EXPECT_EQ(painted.made(), (std::vector<std::string>{"basis", "cubature"}));
  EXPECT_EQ(entries().size(), after_first + 3);
}

/// Whoever points SUPPLE_CACHE_DIR at a folder with other things in it keeps them.
TEST_F(BuildCacheTest, FilesOfOthersAreNeitherRemovedNorCounted) {
  std::filesystem::create_directories(folder);
  const auto long_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(24 * 400);
  const std::vector<std::string> foreign = {"holiday.mp4",
                                            "notes.txt",
                                            "draft.tmp",
                                            ".hidden.tmp",
                                            "tets-0123456789abcdef0123456789abcdef",
                                            "backup-0123456789abcdef0123456789abcdef"};
  for (const std::string& name : foreign) spill(folder / name, std::string(5000, '!'));
  // A list of checksums looks as our first entries did, but for its own checksum.
  spill(folder / foreign.back(), "d41d8cd98f00b204e9800998ecf8427e  holiday.mp4\n");
  for (const std::string& name : foreign) std::filesystem::last_write_time(folder / name, long_ago);
  BuildCache cache(folder, 3000);
  for (int k = 0; k < 5; ++k) cache.keep("stage", content(k), std::string(1000, 'x'));
  for (const std::string& name : foreign) EXPECT_TRUE(std::filesystem::exists(folder / name)) << name;
  EXPECT_TRUE(cache.find("stage", content(4)).has_value());
  EXPECT_FALSE(cache.find("stage", content(0)).has_value()) << "ours are removed above the limit";
  EXPECT_EQ(entries().size(), foreign.size() + 2);
}

}  // namespace
}  // namespace supple::build_cache_test
