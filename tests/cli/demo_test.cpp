// SPDX-License-Identifier: Apache-2.0
#include "cli/run_cli.h"

namespace supple::cli_demo_test {
namespace {

using Demo = CliTest;

TEST_F(Demo, MakesAPictureAndAnAnimation) {
  const CliRun run = supple({"demo", "-o", "here"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  EXPECT_NE(run.out.find("here/cantilever.png"), std::string::npos);
  EXPECT_EQ(slurp(path("here/cantilever.png")).substr(1, 3), "PNG");
  EXPECT_EQ(slurp(path("here/cantilever.glb")).substr(0, 4), "glTF");
  EXPECT_EQ(files(), (std::vector<std::string>{"here", "here/cantilever.glb", "here/cantilever.png"}));
}

TEST_F(Demo, ObjectsFall) {
  const CliRun run = supple({"demo", "falling", "-o", "here"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(slurp(path("here/falling.png")).substr(1, 3), "PNG");
  EXPECT_EQ(slurp(path("here/falling.glb")).substr(0, 4), "glTF");
}

TEST_F(Demo, AnUnknownSceneIsTold) {
  const CliRun run = supple({"demo", "flying"});
  EXPECT_NE(run.code, 0);
  EXPECT_NE(run.err.find("falling"), std::string::npos) << run.err;
}

TEST_F(Demo, AFileInTheWayIsTold) {
  spill(path("here"), "in the way");
  const CliRun run = supple({"demo", "-o", "here"});
  EXPECT_NE(run.code, 0);
  EXPECT_EQ(run.out, "");
  EXPECT_NE(run.err.find("here"), std::string::npos);
  EXPECT_EQ(slurp(path("here")), "in the way");
}

}  // namespace
}  // namespace supple::cli_demo_test
