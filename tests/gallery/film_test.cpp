// SPDX-License-Identifier: Apache-2.0
// Films: what ffmpeg reads out of a file again is what was put into it; without ffmpeg there is a sentence.
#include "gallery/film.h"
#include "gallery/preview.h"
#include "supple/io/file.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>

namespace supple::film_test {
namespace {

namespace fs = std::filesystem;

bool has_ffmpeg() { return std::system("command -v ffmpeg >/dev/null 2>&1") == 0; }

class FilmTest : public testing::Test {
 protected:
  void SetUp() override {
    folder = fs::temp_directory_path() / ("supple_film_" + std::to_string(::getpid()));
    fs::create_directories(folder);
    // A dark picture, a bright one, a dark one, of odd sizes.
    for (const int value : {30, 220, 30}) {
      Image& image = frames.emplace_back(63, 41);
      for (std::size_t k = 0; k < image.rgba.size(); ++k)
        image.rgba[k] = k % 4 == 3 ? 255 : static_cast<std::uint8_t>(value);
    }
  }
  void TearDown() override {
    fs::remove_all(folder);
    ::setenv("PATH", path.c_str(), 1);
  }

  /// Mean brightness of each picture of a file, as ffmpeg decodes it.
  std::vector<double> brightness(const fs::path& file) const {
    const fs::path raw = folder / "raw";
    const std::string command = "ffmpeg -y -loglevel error -i '" + file.string() +
                                "' -vf scale=16:16 -pix_fmt gray -f rawvideo '" + raw.string() + "'";
    EXPECT_EQ(std::system(command.c_str()), 0);
    const std::string bytes = read_file(raw).value();
    std::vector<double> means;
    for (std::size_t at = 0; at + 256 <= bytes.size(); at += 256) {
      double sum = 0;
      for (std::size_t k = 0; k < 256; ++k) sum += static_cast<unsigned char>(bytes[at + k]);
      means.push_back(sum / 256);
    }
    return means;
  }

  fs::path folder;
  std::vector<Image> frames;
  const std::string path = std::getenv("PATH");
};

TEST_F(FilmTest, AnMp4HoldsThePictures) {
  if (!has_ffmpeg()) GTEST_SKIP() << "ffmpeg is not installed";
  const fs::path file = folder / "-odd name: film.mp4";
  ASSERT_TRUE(write_film(file, frames, 10).ok());
  const std::vector<double> means = brightness(file);
  ASSERT_EQ(means.size(), 3u);
  EXPECT_NEAR(means[0], 30, 12);
  EXPECT_NEAR(means[1], 220, 12);
  EXPECT_NEAR(means[2], 30, 12);
}

TEST_F(FilmTest, AnAnimatedWebpHoldsThePictures) {
  if (!has_ffmpeg()) GTEST_SKIP() << "ffmpeg is not installed";
  const fs::path file = folder / "film.webp";
  ASSERT_TRUE(write_film(file, frames, 10).ok());
  // Debian's ffmpeg can't read animated WebP; its chunks can be counted: a picture is an ANMF, loops are in ANIM.
  const std::string bytes = read_file(file).value();
  EXPECT_EQ(bytes.substr(0, 4), "RIFF");
  EXPECT_EQ(bytes.substr(8, 4), "WEBP");
  std::size_t pictures = 0, loops = 0;
  for (std::size_t at = 12; at + 8 <= bytes.size();) {
    const std::string name = bytes.substr(at, 4);
    std::size_t size = 0;
    for (std::size_t k = 4; k-- > 0;) size = size << 8 | static_cast<unsigned char>(bytes[at + 4 + k]);
    pictures += name == "ANMF";
    loops += name == "ANIM";
    at += 8 + size + size % 2;
  }
  EXPECT_EQ(loops, 1u);
  EXPECT_EQ(pictures, 3u);
}

TEST_F(FilmTest, APngNeedsNothing) {
  ::setenv("PATH", "/nowhere", 1);
  ASSERT_TRUE(write_film(folder / "film.png", frames, 10).ok());
  EXPECT_NE(read_file(folder / "film.png")->find("acTL"), std::string::npos);
  ASSERT_TRUE(write_film(folder / "still.png", std::span(frames).first(1), 10).ok());
  EXPECT_EQ(read_file(folder / "still.png")->find("acTL"), std::string::npos);
}

TEST_F(FilmTest, WithoutFfmpegThereIsASentence) {
  ::setenv("PATH", "/nowhere", 1);
  const Status status = check_film(folder / "film.mp4");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::input);
  EXPECT_NE(status.error().message.find("ffmpeg writes .mp4 files, and it isn't here; install it"), std::string::npos)
      << status.error().message;
  EXPECT_EQ(check_film(folder / "film.gif").error().kind, ErrorKind::usage);
  EXPECT_FALSE(fs::exists(folder / "film.mp4"));
}

TEST_F(FilmTest, AnEncoderThatFailsIsTold) {
  // Something of that name that reads nothing.
  ASSERT_TRUE(write_file_atomically(folder / "ffmpeg", "#!/bin/sh\nexit 3\n").ok());
  fs::permissions(folder / "ffmpeg", fs::perms::owner_all);
  ::setenv("PATH", (folder.string() + ":" + path).c_str(), 1);
  const Status status = write_film(folder / "film.mp4", std::vector<Image>(200, frames[0]), 10);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::failure);
}

TEST(FilmView, NamesAndAnglesTellWhereTheCameraStands) {
  EXPECT_LT((view_from("90,0").value() - Vec3(1, 0, 0)).norm(), 1e-12);
  EXPECT_LT((view_from("0,30").value() - Vec3(0, 0.5, std::sqrt(0.75))).norm(), 1e-12);
  EXPECT_GT(view_from("front")->z(), 0.9);
  EXPECT_GT(view_from("side")->x(), 0.9);
  EXPECT_LT(view_from("back")->z(), -0.9);
  EXPECT_EQ(view_from("")->x(), view_from("three-quarter")->x());
  for (const char* wrong : {"left", "10", "10,", "10,95", "nan,0", "10,20x", "1e9,0"})
    EXPECT_EQ(view_from(wrong).error().kind, ErrorKind::usage) << wrong;
}

}  // namespace
}  // namespace supple::film_test
