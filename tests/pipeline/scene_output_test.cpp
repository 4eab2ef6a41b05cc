// SPDX-License-Identifier: Apache-2.0
// The files of a scene: all of them or none, in a folder that may exist already.
#include "supple/pipeline/object/scene_output.h"

#include "supple/io/file_transaction.h"

#include "supple/io/file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <set>

namespace supple::scene_output_test {
namespace {

namespace fs = std::filesystem;

class SceneOutput : public testing::Test {
 protected:
  SceneOutput() : folder_(fs::temp_directory_path() / ("supple_scene_output_" + std::to_string(::getpid()))) {
    fs::create_directory(folder_);
    scene_.name = "box";
    scene_.box.cells = {1, 1, 1};
    scene_.tracks = {{"tip", "max-x"}};
    scene_.output.directory = folder_ / "out";
  }
  ~SceneOutput() override { fs::remove_all(folder_); }

  std::set<std::string> files(const fs::path& where) const {
    std::set<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(where)) names.insert(entry.path().filename());
    return names;
  }
  DynamicsState moved(const SceneBody& body, double time) const {
    const VecX u = VecX::Constant(body.body.dof_count(), time);
    return {u, u, u, time};
  }

  fs::path folder_;
  Scene scene_;
};

TEST_F(SceneOutput, NothingIsSeenBeforeTheEndAndAllOfItThen) {
  const SceneBody body = make_scene_body(scene_).value();
  FileTransaction transaction;
  SceneFiles output(scene_);
  ASSERT_TRUE(output.open(transaction).ok());
  for (const double t : {0.0, 0.5}) {
    ASSERT_TRUE(output.add_frame(body, moved(body, t)).ok());
    output.add_row({t, 1, 2, 3, 4, {Vec3(t, 0.25, 0)}});
  }
  const auto written = output.finish(body, {}).value();
  for (const fs::path& file : written) EXPECT_FALSE(fs::exists(file));
  EXPECT_FALSE(fs::exists(folder_ / "out/frame_000000.vtu"));
  ASSERT_TRUE(transaction.commit().ok());
  EXPECT_EQ(files(folder_ / "out"),
            (std::set<std::string>{"final.vtu", "frame_000000.vtu", "frame_000001.vtu", "history.csv", "series.pvd"}));
  EXPECT_EQ(written, (std::vector<fs::path>{folder_ / "out/series.pvd", folder_ / "out/final.vtu",
                                            folder_ / "out/history.csv"}));
  EXPECT_EQ(read_file(folder_ / "out/history.csv").value(),
            "time_s,kinetic_J,elastic_J,gravity_J,largest_displacement_m,tip_x_m,tip_y_m,tip_z_m\n"
            "0,1,2,3,4,0,0.25,0\n0.5,1,2,3,4,0.5,0.25,0\n");
}

TEST_F(SceneOutput, WhatIsNotFinishedLeavesNothing) {
  fs::create_directory(folder_ / "out");
  ASSERT_TRUE(write_file_atomically(folder_ / "out/final.vtu", "old").ok());
  const SceneBody body = make_scene_body(scene_).value();
  {
    FileTransaction transaction;
    SceneFiles output(scene_);
    ASSERT_TRUE(output.open(transaction).ok());
    ASSERT_TRUE(output.add_frame(body, moved(body, 0)).ok());
  }
  EXPECT_EQ(files(folder_), std::set<std::string>{"out"});
  EXPECT_EQ(files(folder_ / "out"), std::set<std::string>{"final.vtu"});
  EXPECT_EQ(read_file(folder_ / "out/final.vtu").value(), "old");
}

TEST_F(SceneOutput, OtherFilesOfTheFolderStay) {
  fs::create_directory(folder_ / "out");
  ASSERT_TRUE(write_file_atomically(folder_ / "out/notes.txt", "mine").ok());
  const SceneBody body = make_scene_body(scene_).value();
  FileTransaction transaction;
  SceneFiles output(scene_);
  ASSERT_TRUE(output.open(transaction).ok());
  ASSERT_TRUE(output.finish(body, {}).ok());
  ASSERT_TRUE(transaction.commit().ok());
  EXPECT_EQ(files(folder_ / "out"), (std::set<std::string>{"final.vtu", "history.csv", "notes.txt"}));
}

TEST_F(SceneOutput, AFileInPlaceOfTheFolderIsRefusedBeforeAnyWork) {
  ASSERT_TRUE(write_file_atomically(folder_ / "out", "a file").ok());
  FileTransaction transaction;
  SceneFiles output(scene_);
  const Status status = output.open(transaction);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("it is a file; name a folder"), std::string::npos) << status.error().message;
  EXPECT_EQ(read_file(folder_ / "out").value(), "a file");
}

TEST_F(SceneOutput, WithoutAFolderNothingIsWritten) {
  scene_.output.directory.clear();
  const SceneBody body = make_scene_body(scene_).value();
  FileTransaction transaction;
  SceneFiles output(scene_);
  ASSERT_TRUE(output.open(transaction).ok());
  ASSERT_TRUE(output.add_frame(body, moved(body, 0)).ok());
  EXPECT_TRUE(output.finish(body, {}).value().empty());
  ASSERT_TRUE(transaction.commit().ok());
  EXPECT_TRUE(fs::is_empty(folder_));
}

}  // namespace
}  // namespace supple::scene_output_test
