// SPDX-License-Identifier: Apache-2.0
// build, inspect and simulate on a scene of domains, and what they say to bad ones.
#include "run_cli.h"
#include "supple/io/motion/pc2.h"

namespace supple::cli_domains_test {
namespace {

constexpr const char* stalk = R"(mesh = "box"
gravity = [0, -9.81, 0]
[box]
size = [0.3, 0.03, 0.03]
cells = [12, 1, 1]
[material]
young = 3e6
poisson = 0.4
density = 600
[domains]
size = 5
[[domain]]
name = "stem"
select = "all"
[[domain]]
name = "middle"
select = "x>0.1"
[[domain]]
name = "tip"
select = "x>0.2"
size = 0
[[fix]]
select = "min-x"
[wind]
velocity = [0, 0, 5]
[[track]]
name = "tip"
select = "max-x"
[solver]
kind = "dynamic"
dt = 0.004
duration = 0.4
stiffness_damping = 0.002
[output]
directory = "out"
every = 10
)";

class DomainsCli : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    spill(folder / "stalk.toml", stalk);
  }
  /// The scene with one text in place of another.
  void spill_changed(const std::string& from, const std::string& to) const {
    std::string text = stalk;
    text.replace(text.find(from), from.size(), to);
    spill(folder / "bad.toml", text);
  }
};

TEST_F(DomainsCli, BuildsInspectsAndSimulates) {
  const auto done = [&](const std::vector<std::string>& words) {
    CliRun run = supple(words);
    EXPECT_EQ(run.code, 0) << run.err;
    return run.out;
  };
  done({"build", "stalk.toml", "-o", "stalk.supple", "--json=built.json"});
  const auto facts = nlohmann::json::parse(slurp(folder / "built.json"));
  EXPECT_EQ(facts["domains"], 3);
  EXPECT_EQ(facts["coordinates"], 10);
  const std::string seen = done({"inspect", "stalk.supple"});
  EXPECT_NE(seen.find("an object made of many parts"), std::string::npos);
  EXPECT_NE(seen.find("tip: once"), std::string::npos);
  done({"simulate", "stalk.toml", "--asset", "stalk.supple", "--json=run.json"});
  EXPECT_TRUE(std::filesystem::exists(folder / "out" / "history.csv"));
  EXPECT_GT(nlohmann::json::parse(slurp(folder / "run.json"))["largest_motion_m"], 0.001);
  done({"simulate", "stalk.toml", "--asset", "stalk.supple", "-o", "stalk.pc2"});
  EXPECT_TRUE(std::filesystem::exists(folder / "stalk.obj"));
  EXPECT_TRUE(std::filesystem::exists(folder / "stalk.pc2"));
}

TEST_F(DomainsCli, IterationsReachTheSteps) {
  ASSERT_EQ(supple({"build", "stalk.toml", "-o", "stalk.supple"}).code, 0);
  std::vector<double> moved;
  for (const char* iterations : {"1", "2", "6"}) {
    spill_changed("size = 5", std::string("size = 5\niterations = ") + iterations);
    const CliRun run = supple({"simulate", "bad.toml", "--asset", "stalk.supple", "--json=run.json"});
    ASSERT_EQ(run.code, 0) << run.err;
    moved.push_back(nlohmann::json::parse(slurp(folder / "run.json"))["largest_motion_m"]);
  }
  // Newton's method: what a second iteration leaves is much less than what the first did.
  EXPECT_NE(moved[0], moved[2]);
  EXPECT_LT(std::abs(moved[1] - moved[2]), 0.5 * std::abs(moved[0] - moved[2]));
}

TEST_F(DomainsCli, SaysWhatIsWrongInOneSentence) {
  struct Fault {
    const char *from, *to, *word;
  };
  for (const auto& [from, to, word] :
       {Fault{"select = \"all\"", "select = \"x<0.05\"", "belong to no domain"},
        Fault{"select = \"x>0.2\"", "select = \"x>5\"", "tip"},
        Fault{"name = \"middle\"", "name = \"stem\"", "two domains"},
        Fault{"size = 5", "size = 5\nroot = \"leaf\"", "leaf"},
        Fault{"size = 5", "size = 5\niterations = 0", "iterations"},
        Fault{"select = \"min-x\"", "select = \"min-x\"\n[[fix]]\nselect = \"max-x\"", "isn't in the root"},
        Fault{"select = \"x>0.1\"", "select = \"x>0.25\"", "\"middle\" has no elements"}}) {
    spill_changed(from, to);
    const CliRun bad = supple({"build", "bad.toml", "-o", "bad.supple"});
    EXPECT_EQ(bad.code, 3) << to;
    EXPECT_NE(bad.err.find(word), std::string::npos) << bad.err;
    EXPECT_FALSE(std::filesystem::exists(folder / "bad.supple"));
  }
}

TEST_F(DomainsCli, RefusesWhatIsNoTree) {
  const std::string plate = R"(mesh = "box"
[box]
size = [0.4, 0.4, 0.1]
cells = [4, 4, 1]
[[fix]]
select = "min-x"
[[domain]]
name = "ground"
select = "x<0.1"
)";
  struct Fault {
    const char *text, *first, *second;
  };
  for (const auto& [text, first, second] :
       {Fault{
            "[[domain]]\nname = \"a\"\nselect = \"x>0.1\"\n[[domain]]\nname = \"b\"\nselect = \"box:0.2,0,0,1,0.2,1\"\n"
            "[[domain]]\nname = \"c\"\nselect = \"box:0.2,0.2,0,1,1,1\"\n",
            "loop", "merge"},
        Fault{"[[domain]]\nname = \"a\"\nselect = \"x>0.1\"\n[[domain]]\nname = \"b\"\nselect = "
              "\"box:0.2,0,0,0.3,1,1\"\n",
              "\"a\"", "2 pieces"},
        Fault{"[[domain]]\nname = \"a\"\nselect = \"x>0.1\"\nfrequency = 0\n", "frequency", "positive"}}) {
    spill(folder / "bad.toml", plate + text);
    const CliRun bad = supple({"build", "bad.toml", "-o", "bad.supple"});
    EXPECT_EQ(bad.code, 3) << text << bad.err;
    EXPECT_NE(bad.err.find(first), std::string::npos) << bad.err;
    EXPECT_NE(bad.err.find(second), std::string::npos) << bad.err;
    EXPECT_FALSE(std::filesystem::exists(folder / "bad.supple"));
  }
}

}  // namespace
}  // namespace supple::cli_domains_test
