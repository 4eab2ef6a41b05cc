// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/sketch/sketch_basis.h"

#include "supple/base/parallel.h"
#include "supple/io/file.h"

#include "support/bodies.h"

#include <unistd.h>

#include <atomic>

namespace supple::sketch_test {
namespace {

/// A folder of its own for each test, removed afterwards.
class Sketch : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("supple_sketch_" + std::to_string(::getpid()) + "_" +
                                                        testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
  ElasticBody body_ = box_body(ElementKind::tet, {.size = Vec3(1, 0.2, 0.25), .cells = {6, 2, 2}}, MaterialModel::stvk);
  std::vector<Index> fixed_ = left_face(body_);
  std::vector<Index> tip_ = vertices_where(body_, [](const Vec3& X) { return X[0] > 1 - 1e-9; });
  Modes modes_ = must(compute_modes(body_, fixed_, {.count = 8}));
  double diagonal_ = Vec3(1, 0.2, 0.25).norm();

  SketchRecording pull() const {
    return must(scripted_pull(body_, modes_, {tip_, {{Vec3::UnitZ(), 0.3}, {Vec3::UnitY(), 0.3}}, 10}));
  }
};

/// Asks to stop after a number of questions.
class Interrupt : public Progress {
 public:
  explicit Interrupt(int after) : left_(after) {}
  void stage(std::string_view) override {}
  void update(double) override {}
  bool cancelled() const override { return --left_ < 0; }

 private:
  mutable int left_;
};

std::size_t files_in(const std::filesystem::path& folder) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

TEST_F(Sketch, PullReachesWhatItWasTold) {
  const SketchRecording recording = pull();
  ASSERT_EQ(recording.loads.size(), 20u);
  const auto largest = [&](std::size_t k) {
    const VecX u = linear_response(modes_, dense_load(recording.loads[k], recording.vertex_count));
    return Eigen::Map<const Eigen::Matrix3Xd>(u.data(), 3, body_.vertex_count()).colwise().norm().maxCoeff();
  };
  EXPECT_NEAR(largest(4), 0.15 * diagonal_, 1e-12);
  EXPECT_NEAR(largest(9), 0.3 * diagonal_, 1e-12);
  EXPECT_NEAR(largest(19), 0.3 * diagonal_, 1e-12);
  EXPECT_EQ(recording.loads[3].size(), tip_.size());
}

TEST_F(Sketch, LinearResponseOfAllModesIsTheStaticSolution) {
  const ElasticBody small = box_body(ElementKind::tet, {.cells = {2, 1, 1}}, MaterialModel::linear);
  const auto fixed = left_face(small);
  const Modes all = must(compute_modes(small, fixed, {.count = 24}));
  VecX load = random_vector(small.dof_count(), 3);
  must(FreeVertices::create(small, fixed)).clear_fixed(load);
  const VecX expected = must(solve_static(small, fixed, load)).u;
  EXPECT_LT((linear_response(all, load) - expected).norm(), 1e-9 * expected.norm());
}

TEST_F(Sketch, RecordingsSurviveTheFile) {
  const SketchRecording recording = pull();
  const auto path = folder_ / "pull.sketch";
  ASSERT_TRUE(save_sketch(path, recording).ok());
  const SketchRecording back = must(load_sketch(path));
  EXPECT_EQ(back.vertex_count, recording.vertex_count);
  EXPECT_EQ(back.loads, recording.loads);
}

TEST_F(Sketch, DamagedRecordingsAreRefused) {
  const auto path = folder_ / "bad.sketch";
  const auto refused = [&](const std::string& text, const char* words) {
    ASSERT_TRUE(write_file_atomically(path, text).ok());
    const Result<SketchRecording> read = load_sketch(path);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_NE(read.error().message.find(words), std::string::npos) << read.error().message;
    EXPECT_NE(read.error().message.find("bad.sketch"), std::string::npos) << read.error().message;
  };
  refused("", "isn't a sketch recording");
  refused("ply\n", "isn't a sketch recording");
  refused("supple-sketch 2\nvertices 3\nloads 0\n", "version 2");
  refused("supple-sketch 1\nvertices 3\nloads 99999999999\n", "bad.sketch");
  refused("supple-sketch 1\nvertices 3\nloads 1\nload 1\n3 0 0 1\n", "vertex 3 doesn't exist");
  refused("supple-sketch 1\nvertices 3\nloads 1\nload 1\n2 0 nan 1\n", "line 5");
  refused("supple-sketch 1\nvertices 3\nloads 1\nload 1\n2 0 0\n", "line");
  refused("supple-sketch 1\nvertices 3\nloads 1\nload 1\n2 0 0 1\nload 0\n", "more after the last load");
  EXPECT_FALSE(load_sketch(folder_ / "none.sketch").ok());
}

TEST_F(Sketch, SelectsSeparatedLoads) {
  SketchRecording recording{4, {}};
  for (const double f : {0.0, 0.5, 1.0, 1.5, 2.1, 2.2, 1.05}) recording.loads.push_back({{2, Vec3(0, f, 0)}});
  EXPECT_EQ(select_separated(recording, 1.0), (std::vector<std::size_t>{2, 4, 6}));
  EXPECT_EQ(select_separated(recording, 0.0).size(), 6u);  // never the empty load
}

TEST_F(Sketch, SelectsSeparatedShapes) {
  MatX shapes = MatX::Zero(body_.dof_count(), 5);
  const VecX unit = modes_.shapes.col(0);
  for (int c = 0; c < 5; ++c) shapes.col(c) = (std::array{0.5, 1.0, 2.5, 1.2, -1.0})[to_size(c)] * unit;
  EXPECT_EQ(select_separated_shapes(body_.consistent_mass(), shapes, 0.999), (std::vector<Eigen::Index>{1, 2, 4}));
}

TEST_F(Sketch, BasisHoldsItsShapes) {
  const SketchRecording recording = pull();
  const SketchBasis result = must(solve_sketch(body_, fixed_, recording, {.folder = folder_ / "shapes"}));
  EXPECT_EQ(result.loads_recorded, 20);
  EXPECT_EQ(result.shapes_solved, result.loads_selected);
  EXPECT_TRUE(result.failures.empty());
  EXPECT_EQ(files_in(folder_ / "shapes"), to_size(result.shapes_solved));
  const VecX u = must(solve_static(body_, fixed_, dense_load(recording.loads[9], recording.vertex_count))).u;
  const VecX rest = u - result.basis * (result.basis.transpose() * (body_.consistent_mass() * u));
  EXPECT_LT(rest.dot(body_.consistent_mass() * rest), 1e-4 * u.dot(body_.consistent_mass() * u));
}

TEST_F(Sketch, AnInterruptedSolveLosesNothing) {
  const SketchRecording recording = pull();
  const SketchBasis whole = must(solve_sketch(body_, fixed_, recording, {.folder = folder_ / "whole"}));
  set_thread_count(1);  // so that the interruption comes at a known place
  Interrupt interrupt(12);
  const auto stopped = solve_sketch(body_, fixed_, recording, {.folder = folder_ / "parts"}, interrupt);
  set_thread_count(0);
  ASSERT_FALSE(stopped.ok());
  EXPECT_NE(stopped.error().message.find("cancelled"), std::string::npos) << stopped.error().message;
  const std::size_t kept = files_in(folder_ / "parts");
  ASSERT_GT(kept, 0u);
  ASSERT_LT(kept, to_size(whole.loads_selected));
  const SketchBasis resumed = must(solve_sketch(body_, fixed_, recording, {.folder = folder_ / "parts"}));
  EXPECT_EQ(to_size(resumed.shapes_found), kept);
  EXPECT_EQ(resumed.shapes_found + resumed.shapes_solved, whole.shapes_solved);
  EXPECT_EQ(resumed.basis, whole.basis);
  EXPECT_EQ(resumed.singular_values, whole.singular_values);
}

TEST_F(Sketch, DamagedAndForeignShapesAreSolvedAgain) {
  const SketchRecording recording = pull();
  const auto shapes = folder_ / "shapes";
  const SketchBasis first = must(solve_sketch(body_, fixed_, recording, {.folder = shapes}));
  const auto victim = std::filesystem::directory_iterator(shapes)->path();
  std::string bytes = must(read_file(victim));
  bytes[bytes.size() / 2] ^= 1;
  ASSERT_TRUE(write_file_atomically(victim, bytes).ok());
  const SketchBasis second = must(solve_sketch(body_, fixed_, recording, {.folder = shapes}));
  EXPECT_EQ(second.shapes_solved, 1);
  EXPECT_EQ(second.basis, first.basis);
  const ElasticBody stiffer = box_body(ElementKind::tet,
                                       {.size = Vec3(1, 0.2, 0.25),
                                        .cells = {6, 2, 2},
                                        .material = {.name = "b", .young = 5000, .poisson = 0.3, .density = 2}},
                                       MaterialModel::stvk);
  EXPECT_EQ(must(solve_sketch(stiffer, fixed_, recording, {.folder = shapes})).shapes_found, 0);
}

TEST_F(Sketch, LoadsWithoutAnswerAreReportedAndSkipped) {
  SketchRecording recording = pull();
  NodalLoad crush;
  for (const Index v : tip_) crush.push_back({v, Vec3(-1e9, 0, 0)});
  recording.loads = {recording.loads[2], recording.loads[5], crush};
  const SketchSettings settings{.folder = folder_ / "s", .load_separation = 0};
  const SketchBasis result = must(solve_sketch(body_, fixed_, recording, settings));
  ASSERT_EQ(result.failures.size(), 1u);
  EXPECT_NE(result.failures[0].find("load 2 is left out"), std::string::npos) << result.failures[0];
  EXPECT_EQ(result.shapes_solved, 2);
  EXPECT_EQ(result.basis.cols(), result.suggested_size);
}

TEST_F(Sketch, BadInputGetsASentence) {
  SketchRecording recording = pull();
  EXPECT_FALSE(solve_sketch(body_, fixed_, recording, {}).ok());
  EXPECT_FALSE(solve_sketch(body_, fixed_, recording, {.folder = folder_ / "s", .size = 500}).ok());
  EXPECT_FALSE(solve_sketch(body_, {}, recording, {.folder = folder_ / "s"}).ok());
  EXPECT_FALSE(solve_sketch(body_, fixed_, {body_.vertex_count(), {}}, {.folder = folder_ / "s"}).ok());
  recording.vertex_count = 7;
  EXPECT_FALSE(solve_sketch(body_, fixed_, recording, {.folder = folder_ / "s"}).ok());
  EXPECT_FALSE(scripted_pull(body_, modes_, {{}, {{}}, 3}).ok());
  EXPECT_FALSE(scripted_pull(body_, modes_, {{9999}, {{}}, 3}).ok());
  EXPECT_FALSE(scripted_pull(body_, modes_, {fixed_, {{}}, 3}).ok());
}

}  // namespace
}  // namespace supple::sketch_test
