// SPDX-License-Identifier: Apache-2.0
// Replays the fuzzers' corpora, whole, cut and with bytes changed, through the same entries the fuzzers call.
#include "fuzz/entries.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

namespace supple::fuzz {
namespace {

void replay(Entry entry, const std::string& bytes) {
  const std::size_t step = 1 + bytes.size() / 4000;  // archives take long to read
  for (std::size_t length = 0; length <= bytes.size(); length += step) entry(bytes.substr(0, length));
  std::mt19937 random(static_cast<std::mt19937::result_type>(bytes.size()));
  const auto below = [&](std::size_t limit) { return to_size(random() % limit); };
  for (int round = 0; round < 200 && !bytes.empty(); ++round) {
    std::string changed = bytes;
    for (std::size_t k = below(4) + 1; k > 0; --k) changed[below(changed.size())] = static_cast<char>(random());
    entry(changed);
    // Text survives random bytes badly; digits for digits go deeper.
    for (char& c : changed) {
      if (c >= '0' && c <= '9' && below(10) == 0) c = static_cast<char>('0' + below(10));
    }
    entry(changed);
  }
}

TEST(FuzzCorpus, BreaksNoPromise) {
  for (const Target& target : targets) {
    std::size_t files = 0;
    for (const auto& file :
         std::filesystem::directory_iterator(std::filesystem::path(SUPPLE_FUZZ_CORPUS_DIR) / target.name)) {
      std::ifstream stream(file.path(), std::ios::binary);
      replay(target.entry, std::string(std::istreambuf_iterator<char>(stream), {}));
      ++files;
    }
    EXPECT_GT(files, 0u) << target.name;
  }
}

}  // namespace
}  // namespace supple::fuzz
