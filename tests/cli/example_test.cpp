// SPDX-License-Identifier: Apache-2.0
#include "run_cli.h"

namespace supple::cli_example_test {
namespace {

class ExampleCommand : public CliTest {};

TEST_F(ExampleCommand, ListsTheExamples) {
  const nlohmann::json result = supple_json({"example"});
  ASSERT_EQ(result["examples"].size(), 10u);
  EXPECT_EQ(result["examples"][0]["name"], "mascot");
  EXPECT_TRUE(files().empty());
}

TEST_F(ExampleCommand, WritesAModelAndItsRecipe) {
  const nlohmann::json result = supple_json({"example", "x_shape", "-o", "out"});
  EXPECT_EQ(result["joints"], 17);
  EXPECT_EQ(files(), (std::vector<std::string>{"out", "out/x_shape.glb", "out/x_shape.toml"}));
  EXPECT_EQ(slurp(path("out/x_shape.glb")).substr(0, 4), "glTF");
  const std::string recipe = slurp(path("out/x_shape.toml"));
  for (const char* words : {"input = \"x_shape.glb\"\n", "\ntets = 10300\n", "\nname = \"bent_forward\"\n"})
    EXPECT_NE(recipe.find(words), std::string::npos) << words;
}

TEST_F(ExampleCommand, RefusesOtherNames) {
  expect_refusal({"example", "gorila"}, 2, "did you mean \"gorilla\"");
  spill(path("file"), "");
  expect_refusal({"example", "x_shape", "-o", "file/inside"}, 3, "file/inside");
}

}  // namespace
}  // namespace supple::cli_example_test
