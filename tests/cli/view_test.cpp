// SPDX-License-Identifier: Apache-2.0
// supple view: what is put into the page, and what is refused. tests/web drives the page itself.
#include "run_cli.h"
#include "supple/io/gltf/gltf_uri.h"

#include <zlib.h>

#include <cmath>
#include <cstring>

namespace supple::cli_view_test {
namespace {

class ViewCli : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    ASSERT_EQ(supple({"example", "x_shape"}).code, 0);
    spill(folder / "small.toml", "input = \"x_shape.glb\"\n[body]\ntets = 800\n[flesh]\nsize = 8\n");
    spill(folder / "empty.html", "<html><!--supple:data--></html>");
  }

  /// What the page holds in an element, after unpacking.
  static std::string block(const std::string& page, const std::string& name) {
    const std::string head = "id=\"supple-" + name + "\">";
    const std::size_t at = page.find(head);
    if (at == std::string::npos) return {};
    const std::size_t begin = at + head.size(), end = page.find("</script>", begin);
    const auto packed = decode_data_uri("data:;base64," + page.substr(begin, end - begin));
    if (!packed) return {};
    std::string bytes(64 << 20, '\0');
    uLongf size = bytes.size();
    if (uncompress(reinterpret_cast<Bytef*>(bytes.data()), &size, reinterpret_cast<const Bytef*>(packed->bytes.data()),
                   packed->bytes.size()) != Z_OK)
      return {};
    bytes.resize(size);
    return bytes;
  }
};

TEST_F(ViewCli, ACharacterIsInThePageWithItsAsset) {
  ASSERT_EQ(supple({"build", "small.toml", "-o", "small.supple"}).code, 0);
  const auto report =
      supple_json({"view", "small.toml", "--asset", "small.supple", "-o", "page.html", "--page", "empty.html"});
  EXPECT_EQ(report["kind"], "character");
  const std::string page = slurp(folder / "page.html");
  EXPECT_EQ(report["bytes"], page.size());
  EXPECT_EQ(block(page, "asset"), slurp(folder / "small.supple"));
  EXPECT_EQ(block(page, "model").rfind("glTF", 0), 0u);
  EXPECT_NE(page.find("{\"kind\":\"character\",\"name\":\"x_shape\""), std::string::npos);
  EXPECT_EQ(page.rfind("</html>"), page.size() - 7);
  // Without an asset it is built, or found in the cache.
  ASSERT_EQ(supple({"view", "small.toml", "-o", "built.html", "--page", "empty.html"}).code, 0);
  EXPECT_EQ(block(slurp(folder / "built.html"), "asset"), slurp(folder / "small.supple"));
}

TEST_F(ViewCli, ABakedFileStandsBesideItsOriginal) {
  const std::string file = "a<b.glb";
  std::filesystem::copy_file(folder / "x_shape.glb", folder / file);
  const auto report = supple_json({"view", file, "--beside", "x_shape.glb", "-o", "page.html", "--page", "empty.html"});
  EXPECT_EQ(report["kind"], "baked");
  const std::string page = slurp(folder / "page.html");
  EXPECT_EQ(block(page, "original").rfind("glTF", 0), 0u);
  EXPECT_NE(page.find("\"name\":\"a\\u003cb\""), std::string::npos);
}

TEST_F(ViewCli, AnObjectIsInThePageAsItsAsset) {
  spill(folder / "beam.toml",
        "mesh = \"box\"\n[box]\nsize = [1, 0.1, 0.1]\ncells = [12, 2, 2]\n[reduce]\nmodes = 3\nsize = "
        "5\n[[fix]]\nselect = \"min-x\"\n");
  const CliRun built = supple({"build", "beam.toml", "-o", "beam.supple"});
  ASSERT_EQ(built.code, 0) << built.err;
  const auto report = supple_json({"view", "beam.supple", "-o", "beam.html", "--page", "empty.html"});
  EXPECT_EQ(report["kind"], "object");
  const std::string page = slurp(folder / "beam.html");
  EXPECT_EQ(block(page, "asset"), slurp(folder / "beam.supple"));
  EXPECT_FALSE(block(page, "nodes").empty());  // that its sketches are recorded for
  EXPECT_NE(page.find("{\"kind\":\"object\",\"name\":\"beam\""), std::string::npos);
  expect_refusal({"view", "beam.supple", "-o", "other.html", "--page", "empty.html", "--baked"}, 2, "shown by itself");
  ASSERT_EQ(supple({"build", "small.toml", "-o", "small.supple"}).code, 0);
  expect_refusal({"view", "small.supple", "-o", "other.html", "--page", "empty.html"}, 3,
                 "name the character it was built from");
}

/// The numbers of a block, as browsers read them.
template <class Number>
std::vector<Number> numbers_of(const std::string& bytes) {
  std::vector<Number> numbers(bytes.size() / sizeof(Number));
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

TEST_F(ViewCli, AMeshIsInThePageWithItsModes) {
  // Six tetrahedra around a diagonal: a beam of one cube, held at one end.
  spill(folder / "cube.mesh",
        "MeshVersionFormatted 2\nDimension 3\nVertices 8\n0 0 0 0\n1 0 0 0\n1 1 0 0\n0 1 0 0\n0 0 1 0\n1 0 1 0\n1 1 1 "
        "0\n0 1 1 0\nTetrahedra 6\n1 2 3 7 0\n1 3 4 7 0\n1 4 8 7 0\n1 8 5 7 0\n1 5 6 7 0\n1 6 2 7 0\nEnd\n");
  const auto report =
      supple_json({"view", "cube.mesh", "-o", "cube.html", "--page", "empty.html", "--fix", "min-x", "--modes", "3"});
  EXPECT_EQ(report["kind"], "solid");
  const auto modes = supple_json({"modes", "cube.mesh", "--fix", "min-x", "--modes", "3"});
  const std::string page = slurp(folder / "cube.html");
  const std::size_t at = page.find("{\"kind\":\"solid\"");
  ASSERT_NE(at, std::string::npos);
  const auto told = nlohmann::json::parse(page.substr(at, page.find("</script>", at) - at));
  ASSERT_EQ(told["frequencies"].size(), 3u);
  for (std::size_t k = 0; k < 3; ++k)
    EXPECT_NEAR(told["frequencies"][k].get<double>(), modes["modes"][k]["frequency_hz"].get<double>(), 1e-9);
  EXPECT_EQ(numbers_of<float>(block(page, "vertices")).size(), 24u);
  EXPECT_EQ(numbers_of<std::uint32_t>(block(page, "elements")).size(), 24u);
  const auto shapes = numbers_of<float>(block(page, "shapes"));
  ASSERT_EQ(shapes.size(), 72u);
  for (std::size_t k = 0; k < 3; ++k) {
    double largest = 0;
    for (std::size_t v = 0; v < 8; ++v) {
      const float* u = &shapes[24 * k + 3 * v];
      largest = std::max(largest, std::hypot(double{u[0]}, double{u[1]}, double{u[2]}));
    }
    EXPECT_NEAR(largest, 1, 1e-6);
    EXPECT_EQ(shapes[24 * k], 0);  // held
  }
  ASSERT_EQ(supple({"view", "cube.mesh", "-o", "still.html", "--page", "empty.html", "--modes", "0"}).code, 0);
  EXPECT_TRUE(block(slurp(folder / "still.html"), "shapes").empty());
  expect_refusal({"view", "cube.mesh", "-o", "other.html", "--page", "empty.html", "--inside"}, 2, "shown by itself");
}

TEST_F(ViewCli, RegionsOfARecipeAreInThePageWithTheirNames) {
  spill(folder / "parts.toml",
        "input = \"x_shape.glb\"\n[body]\ntets = 800\n[material]\nyoung = 1e5\n[[region]]\n"
        "joints = [\"up_1\", \"up_2\"]\nsoftness = 3\n");
  ASSERT_EQ(supple({"view", "parts.toml", "--inside", "-o", "parts.html", "--page", "empty.html"}).code, 0);
  const std::string page = slurp(folder / "parts.html");
  EXPECT_NE(page.find("\"regions\":[\"bone\",\"flesh\",\"up_1, up_2: softness 3\"]"), std::string::npos);
  const auto regions = numbers_of<std::uint32_t>(block(page, "regions"));
  const auto young = numbers_of<float>(block(page, "stiffness"));
  ASSERT_EQ(regions.size(), young.size());
  // Softness runs out gradually, by 3 to the power of the share: half of it is the border.
  const float border = 1e5f / std::sqrt(3.0f);
  for (std::size_t e = 0; e < young.size(); ++e) {
    if (regions[e] == 2) {
      EXPECT_LT(young[e], 1.02f * border);
    }
    if (regions[e] == 1) {
      EXPECT_GT(young[e], 0.98f * border);
    }
  }
  EXPECT_GT(std::count(regions.begin(), regions.end(), 2u), 20);
}

TEST_F(ViewCli, TetrahedraOfACharacterAreInThePageWithItsElementsOfCubature) {
  ASSERT_EQ(supple({"build", "small.toml", "-o", "small.supple"}).code, 0);
  const auto facts = supple_json({"inspect", "small.supple"});
  const auto report = supple_json(
      {"view", "small.toml", "--asset", "small.supple", "--inside", "-o", "inside.html", "--page", "empty.html"});
  EXPECT_EQ(report["kind"], "solid");
  const std::string page = slurp(folder / "inside.html");
  const auto cubature = numbers_of<float>(block(page, "cubature"));
  EXPECT_EQ(4 * sizeof(float) * cubature.size(), block(page, "elements").size());
  const auto chosen = std::count_if(cubature.begin(), cubature.end(), [](float w) { return w > 0; });
  EXPECT_GT(chosen, 5);
  EXPECT_LT(2 * static_cast<std::size_t>(chosen), cubature.size());
  const auto young = numbers_of<float>(block(page, "stiffness"));
  EXPECT_EQ(young.size(), cubature.size());
  EXPECT_GT(*std::min_element(young.begin(), young.end()), 0);
  EXPECT_FALSE(block(page, "skin").empty());
  // Live, the skin has a stiffness: nothing where bones hold it.
  ASSERT_EQ(supple({"view", "small.toml", "--asset", "small.supple", "-o", "live.html", "--page", "empty.html"}).code,
            0);
  EXPECT_EQ(3 * block(slurp(folder / "live.html"), "stiffness").size(), block(page, "skin").size());
  // Both know their regions.
  const std::string live = slurp(folder / "live.html");
  EXPECT_NE(live.find("\"regions\":[\"bone\",\"flesh\"]"), std::string::npos);
  EXPECT_EQ(block(live, "regions").size(), block(live, "stiffness").size());
  const auto regions = numbers_of<std::uint32_t>(block(page, "regions"));
  EXPECT_EQ(regions.size(), young.size());
  EXPECT_EQ(*std::max_element(regions.begin(), regions.end()), 1u);
  // Without an asset nothing is built but the body.
  ASSERT_EQ(supple({"view", "small.toml", "--inside", "-o", "body.html", "--page", "empty.html"}).code, 0);
  EXPECT_TRUE(block(slurp(folder / "body.html"), "cubature").empty());
}

TEST_F(ViewCli, FaultsAreSentences) {
  const auto refuse = [&](std::vector<std::string> words, int code, const std::string& sentence) {
    words.insert(words.begin(), "view");
    expect_refusal(words, code, sentence);
  };
  refuse({"x_shape.glb", "-o", "page.png", "--page", "empty.html"}, 2, "ends in .html");
  refuse({"x_shape.glb", "-o", "page.html", "--page", "empty.html", "--modes", "3"}, 2, "are for a solid mesh");
  refuse({"x_shape.glb", "-o", "page.html", "--page", "empty.html", "--baked", "--inside"}, 2, "has no tetrahedra");
  refuse({"missing.msh", "-o", "page.html", "--page", "empty.html"}, 3, "missing.msh");
  refuse({"x_shape.supple", "-o", "page.html", "--page", "empty.html"}, 3, "x_shape.supple");
  refuse({"missing.glb", "-o", "page.html", "--page", "empty.html"}, 3, "missing.glb");
  refuse({"x_shape.glb", "--beside", "missing.glb", "-o", "page.html", "--page", "empty.html"}, 3, "missing.glb");
  refuse({"x_shape.glb", "--baked", "-o", "page.html", "--page", "small.toml"}, 3, "isn't the page");
  EXPECT_FALSE(std::filesystem::exists(folder / "page.html"));
}

TEST_F(ViewCli, WithoutTheWebPartItSaysHowToBuildIt) {
  std::filesystem::create_directories(folder / "bin");
  std::filesystem::copy_file(SUPPLE_CLI, folder / "bin/supple");
  const std::string command = "cd " + folder.string() + " && bin/supple view x_shape.glb -o page.html 2> said";
  const int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 3);
  EXPECT_NE(slurp(folder / "said").find("build it with `./go web`"), std::string::npos) << slurp(folder / "said");
}

}  // namespace
}  // namespace supple::cli_view_test
