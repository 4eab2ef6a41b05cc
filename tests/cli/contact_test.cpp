// SPDX-License-Identifier: Apache-2.0
// [flesh] contact from the command line: a baked file whose skin stays out of itself, and a report that says so.
#include "run_cli.h"

namespace supple::cli_contact_test {
namespace {

class ContactCli : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    ASSERT_EQ(supple({"example", "arm"}).code, 0);
  }
  nlohmann::json bake(const std::string& flesh) const {
    spill(folder / "r.toml", "input = \"arm.glb\"\nclips = [\"flex\"]\n[body]\ntets = 1500\n[flesh]\n" + flesh);
    return supple_json({"bake", "r.toml", "--quality", "draft", "--no-cache", "-o", "soft.glb"});
  }
};

TEST_F(ContactCli, TheRigIsTakenOutOfItselfWithoutAKick) {
  const nlohmann::json plain = bake("");
  EXPECT_FALSE(plain.contains("contact"));
  const nlohmann::json baked = bake("contact = true\n");
  const nlohmann::json& contact = baked["contact"];
  EXPECT_GT(contact["rig_before_percent"], 2);
  EXPECT_LT(contact["rig_after_percent"], 0.1 * contact["rig_before_percent"].get<double>());
  EXPECT_GE(contact["corrections"].size(), 1u);
  ASSERT_EQ(baked["clips"].size(), 1u);
  EXPECT_TRUE(baked["clips"][0].contains("skin_depth_percent"));
  EXPECT_FALSE(plain["clips"][0].contains("skin_depth_percent"));
  // Flesh isn't kicked by the corrections.
  EXPECT_NEAR(baked["clips"][0]["rms_percent"].get<double>() / plain["clips"][0]["rms_percent"].get<double>(), 1, 0.1);
}

TEST_F(ContactCli, AnAssetBakesTheSame) {
  spill(folder / "r.toml",
        "input = \"arm.glb\"\nclips = [\"flex\"]\n[body]\ntets = 1500\n[flesh]\ncontact = true\nsize = 12\n");
  ASSERT_EQ(supple({"build", "r.toml", "-o", "arm.supple", "--no-cache"}).code, 0);
  const nlohmann::json a = supple_json({"bake", "r.toml", "--no-cache", "-o", "a.glb"});
  const nlohmann::json b = supple_json({"bake", "r.toml", "--asset", "arm.supple", "-o", "b.glb"});
  EXPECT_EQ(a["clips"][0]["skin_depth_percent"], b["clips"][0]["skin_depth_percent"]);
}

}  // namespace
}  // namespace supple::cli_contact_test
