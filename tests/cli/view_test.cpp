// SPDX-License-Identifier: Apache-2.0
// supple view: what is put into the page, and what is refused. tests/web drives the page itself.
#include "run_cli.h"
#include "supple/io/gltf/gltf_uri.h"

#include <zlib.h>

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
  EXPECT_NE(page.find("{\"kind\":\"object\",\"name\":\"beam\""), std::string::npos);
  expect_refusal({"view", "beam.supple", "-o", "other.html", "--page", "empty.html", "--baked"}, 2, "shown by itself");
  ASSERT_EQ(supple({"build", "small.toml", "-o", "small.supple"}).code, 0);
  expect_refusal({"view", "small.supple", "-o", "other.html", "--page", "empty.html"}, 3,
                 "name the character it was built from");
}

TEST_F(ViewCli, FaultsAreSentences) {
  const auto refuse = [&](std::vector<std::string> words, int code, const std::string& sentence) {
    words.insert(words.begin(), "view");
    expect_refusal(words, code, sentence);
  };
  refuse({"x_shape.glb", "-o", "page.png", "--page", "empty.html"}, 2, "ends in .html");
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
