// SPDX-License-Identifier: Apache-2.0
// The book: its commands exist with the options that it gives them, those marked <!-- run --> are run, others are by
// night or say why not, its links lead somewhere, the files it names are there, and what the code knows stands in it as
// the code says.
#include "run_cli.h"
#include "supple/pipeline/character/recipe_keys.h"

#include <map>
#include <regex>
#include <set>

namespace supple::cli_docs_test {
namespace {

namespace fs = std::filesystem;

const fs::path top = SUPPLE_SOURCE_DIR;

/// README.md, CONTRIBUTING.md and all of docs.
std::vector<fs::path> documents() {
  std::vector<fs::path> files = {top / "README.md", top / "CONTRIBUTING.md"};
  for (const auto& entry : fs::recursive_directory_iterator(top / "docs"))
    if (entry.path().extension() == ".md") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

struct Block {
  std::string language;
  std::string mark;  ///< the line before it: <!-- run -->, <!-- run nightly --> or <!-- not run: … -->
  std::vector<std::string> lines;
};

struct Document {
  std::vector<Block> blocks;
  std::string prose;  ///< all else
};

Document read_document(const fs::path& file) {
  Document document;
  std::ifstream text(file);
  std::string before;
  bool inside = false;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("```")) {
      inside = !inside;
      if (inside) document.blocks.push_back({line.substr(3), before, {}});
    } else if (inside) {
      document.blocks.back().lines.push_back(line);
    } else {
      document.prose += line + "\n";
    }
    if (!line.empty()) before = line;
  }
  EXPECT_FALSE(inside) << file << ": a block of code is never closed";
  return document;
}

std::vector<std::string> words_of(const std::string& text) {
  std::stringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// The commands of a line: "a && b  # why" has two.
std::vector<std::string> commands_of(std::string line) {
  line = std::regex_replace(line, std::regex("^\\s+"), "");
  line = std::regex_replace(line, std::regex("(\\s+#.*|\\s{2,}.*)$"), "");
  std::vector<std::string> commands;
  static const std::regex starts("^(\\./supple|supple|\\./go)( |$)");
  for (std::size_t at; !line.empty(); line = at == line.npos ? "" : line.substr(at + 4)) {
    at = line.find(" && ");
    const std::string one = line.substr(0, at);
    if (std::regex_search(one, starts)) commands.push_back(one);
  }
  return commands;
}

/// Every command that a document tells its readers to type.
std::vector<std::string> commands_in(const fs::path& file) {
  const Document document = read_document(file);
  std::vector<std::string> commands;
  const auto add = [&](const std::string& line) {
    for (const std::string& command : commands_of(line)) commands.push_back(command);
  };
  for (const Block& block : document.blocks)
    for (const std::string& line : block.lines) add(line);
  static const std::regex code("`([^`]+)`");
  for (std::sregex_iterator it(document.prose.begin(), document.prose.end(), code), end; it != end; ++it)
    add(std::regex_replace(std::string((*it)[1]), std::regex("\\n"), " "));
  return commands;
}

bool has_option(const std::string& help, const std::string& option) {
  const std::string name = std::regex_replace(option, std::regex("[.]"), "\\.");
  return std::regex_search(help, std::regex("(^|[\\s,])" + name + "([\\s,=\\[]|$)"));
}

class Docs : public CliTest {
 protected:
  /// What --help says; empty where there is no such command.
  const std::string& help(const std::string& verb) {
    const auto found = help_.find(verb);
    if (found != help_.end()) return found->second;
    const CliRun run = supple({verb, "--help"});
    return help_[verb] = run.code == 0 ? run.out : "";
  }

  /// Empty, or why nobody could type that.
  std::string fault_of(const std::string& command) {
    std::vector<std::string> words = words_of(std::regex_replace(command, std::regex("[\\[\\]…]"), " "));
    if (words.size() < 2 || words[1] == "COMMAND" || words[1] == "--help" || words[1] == "--version") return "";
    const bool is_go = words[0] == "./go";
    const std::string& verb = words[1];
    if (is_go && !go_verbs().contains(verb)) return "./go has no verb " + verb;
    if (!is_go && help(verb).empty()) return "there is no command " + verb;
    for (std::size_t k = 2; k < words.size() && words[k] != "--"; ++k) {
      const std::string option = words[k].substr(0, words[k].find('='));
      if (!option.starts_with('-') || option == "-") continue;
      if (is_go ? !go_takes(verb, option) : !has_option(help(verb), option)) return verb + " has no option " + option;
    }
    return "";
  }

  static const std::set<std::string>& go_verbs() {
    static const std::set<std::string> verbs = [] {
      const std::string text = slurp(top / "go");
      const std::size_t end = text.find(") \"verb_$verb\"");
      const std::size_t begin = text.rfind('\n', end) + 1;
      std::set<std::string> found;
      for (const std::string& word : words_of(text.substr(begin, end - begin)))
        if (word != "|") found.insert(word);
      return found;
    }();
    return verbs;
  }

  /// ctest's options go through; those of a demo are those of a bake.
  bool go_takes(const std::string& verb, const std::string& option) {
    if (verb == "test" || verb == "integration") return option == "-L" || option == "-R" || option == "-LE";
    if (verb == "demo") return has_option(help("bake"), option);
    if (verb == "bench") return has_option(help("bench"), option);
    const std::string text = slurp(top / "go");
    const std::size_t begin = text.find("\nverb_" + verb + "()");
    return text.substr(begin, text.find("\nverb_", begin + 1) - begin).find(option) != std::string::npos;
  }

 private:
  std::map<std::string, std::string> help_;
};

TEST_F(Docs, EveryCommandAndItsOptionsExist) {
  std::size_t count = 0;
  for (const fs::path& file : documents())
    for (const std::string& command : commands_in(file)) {
      EXPECT_EQ(fault_of(command), "") << file << ": " << command;
      ++count;
    }
  EXPECT_GT(count, 100u);
  // What the page of results tells people to type.
  const auto papers = nlohmann::json::parse(slurp(top / "bench/papers.json"));
  for (const auto& paper : papers["papers"])
    for (const auto& item : paper["items"])
      if (item.contains("command")) {
        EXPECT_EQ(fault_of(item["command"]), "") << item["command"];
      }
  for (const auto& item : papers["others"]) EXPECT_EQ(fault_of(item["command"]), "") << item["command"];
}

TEST_F(Docs, TheCheckOfCommandsSeesFaults) {
  EXPECT_EQ(fault_of("supple bake hero.glb -o x.glb --engine full"), "");
  EXPECT_EQ(fault_of("supple back hero.glb"), "there is no command back");
  EXPECT_EQ(fault_of("./supple bake hero.glb --engines full"), "bake has no option --engines");
  EXPECT_EQ(fault_of("./go tests"), "./go has no verb tests");
  EXPECT_EQ(fault_of("./go web --tests"), "web has no option --tests");
  EXPECT_EQ(commands_of("./go web && ./supple view a.glb -o b.html   # both"),
            (std::vector<std::string>{"./go web", "./supple view a.glb -o b.html"}));
}

TEST_F(Docs, EveryBlockOfCommandsIsRunOrSaysWhyNot) {
  static const std::regex mark("<!-- (run|run nightly|not run: .+) -->");
  for (const fs::path& file : documents())
    for (const Block& block : read_document(file).blocks) {
      if (block.language != "sh") continue;
      EXPECT_TRUE(std::regex_match(block.mark, mark)) << file << ": " << block.lines.at(0);
    }
}

/// Runs a block as a script in the folder of its page; empty, or what went wrong.
std::string fault_of_block(const fs::path& place, const std::vector<std::string>& lines) {
  std::string script = "set -e\ncd '" + place.string() + "'\nPATH='" + place.string() + "':$PATH\n";
  for (const std::string& line : lines) script += line + "\n";
  spill(place / "script", script);
  const int status =
      std::system(("sh '" + (place / "script").string() + "' >'" + (place / "said").string() + "' 2>&1").c_str());
  return status == 0 ? "" : script + slurp(place / "said");
}

/// A folder in which readers stand: the top of a clone that has been built.
void make_clone(const fs::path& place) {
  if (fs::exists(place)) return;
  fs::create_directories(place);
  fs::copy(top / "examples", place / "examples", fs::copy_options::recursive);  // scenes write beside themselves
  fs::create_symlink(SUPPLE_CLI, place / "supple");
}

TEST_F(Docs, CommandsThatAreMarkedAreRun) {
  std::size_t count = 0;
  for (const fs::path& file : documents()) {
    const fs::path place = folder / file.stem();  // the blocks of a page follow each other
    for (const Block& block : read_document(file).blocks) {
      if (block.mark != "<!-- run -->") continue;
      ++count;
      make_clone(place);
      EXPECT_EQ(fault_of_block(place, block.lines), "") << file;
    }
  }
  EXPECT_GE(count, 7u);
}

/// Commands of readers who have a character, its baked file, a tree, a beam and a spoon. Lines that begin with ./go are
/// tests of their own; pages need what ./go web builds, and pictures supple_gallery.
TEST_F(Docs, CommandsThatTakeLongAreRunByNight) {
  if (std::getenv("SUPPLE_NIGHTLY") == nullptr) GTEST_SKIP() << "it takes an hour; ./go nightly does it";
  const fs::path built = fs::path(SUPPLE_CLI).parent_path();
  const bool pages = fs::exists(built / "../web/view.html"), pictures = fs::exists(built / "supple_gallery");
  const fs::path things = folder / "things";
  make_clone(things);
  ASSERT_EQ(
      fault_of_block(things, {"supple example x_shape", "mv x_shape.glb hero.glb", "rm x_shape.toml",
                              "supple init hero.glb", "sed -i 's/^tets = .*/tets = 1500/' hero.toml",
                              "supple build hero.toml -o hero.supple --quality draft",
                              "supple bake hero.toml -o hero_soft.glb --quality draft", "supple example tree",
                              "supple build examples/beam_model.toml -o beam.supple",
                              "supple mesh hero.glb -o beam.msh --tets 1000", "supple convert hero.glb spoon.obj",
                              "mkdir first", "supple example x_shape -o first", "cp hero_soft.glb first/soft.glb"}),
      "");
  for (const fs::path& file : documents())
    for (const Block& block : read_document(file).blocks) {
      if (block.mark != "<!-- run nightly -->") continue;
      for (std::string line : block.lines) {
        line = std::regex_replace(line, std::regex("^\\./go web && "), "");
        if (line.starts_with("./go ") || (!pages && line.find("supple view") != line.npos) ||
            (!pictures && line.find("supple preview") != line.npos))
          continue;
        // Readers who try a second command don't mind the file of the first.
        line = line.substr(0, line.find("  #"));
        if (line.find("supple ") != line.npos && line.find("haptics") == line.npos) line += " --force";
        EXPECT_EQ(fault_of_block(things, {line}), "") << file;
      }
    }
}

// ---- links
// ------------------------------------------------------------------------------------------------------------

/// The anchor that forges make of a heading.
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char c : heading) {
    if (c == ' ') anchor += '-';
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || (c & 0x80) != 0)
      anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return anchor;
}

std::set<std::string> anchors_of(const fs::path& file) {
  std::set<std::string> anchors;
  std::stringstream prose(read_document(file).prose);
  static const std::regex heading("^#+ (.*)$");
  std::smatch match;
  for (std::string line; std::getline(prose, line);)
    if (std::regex_match(line, match, heading)) anchors.insert(anchor_of(match[1]));
  return anchors;
}

TEST(DocLinks, LeadSomewhere) {
  static const std::regex link("\\]\\(([^)\\s]+)\\)");
  std::size_t count = 0;
  for (const fs::path& file : documents()) {
    const std::string prose = read_document(file).prose;
    for (std::sregex_iterator it(prose.begin(), prose.end(), link), end; it != end; ++it) {
      const std::string target = (*it)[1];
      if (target.starts_with("https://")) continue;
      ++count;
      const std::size_t hash = std::min(target.find('#'), target.size());
      const fs::path there = hash == 0 ? file : file.parent_path() / target.substr(0, hash);
      EXPECT_TRUE(fs::exists(there)) << file << " links to " << target;
      if (hash < target.size() && fs::exists(there)) {
        EXPECT_TRUE(anchors_of(there).contains(target.substr(hash + 1))) << file << " links to " << target;
      }
    }
  }
  EXPECT_GT(count, 50u);
}

TEST(DocLinks, EveryPageIsInTheTableOfContents) {
  const std::string contents = slurp(top / "book/mkdocs.yml");
  for (const auto& entry : fs::recursive_directory_iterator(top / "docs")) {
    if (entry.path().extension() != ".md") continue;
    const std::string page = fs::relative(entry.path(), top / "docs").string();
    EXPECT_NE(contents.find(": " + page + "\n"), std::string::npos) << page;
  }
}

/// Files are named from the top, or from within a room: a path that some file ends with.
TEST(DocLinks, FilesOfEquationsAreThere) {
  std::set<std::string> ends;
  for (const char* room : {"src", "tests", "bench", "apps", "samples", "web", "bindings", "examples"})
    for (const auto& entry : fs::recursive_directory_iterator(top / room)) {
      const std::string path = fs::relative(entry.path(), top).string();
      for (std::size_t at = 0; at != std::string::npos; at = path.find('/', at + 1))
        ends.insert(path.substr(at == 0 ? 0 : at + 1));
    }
  static const std::regex name("`([a-z0-9_]+(?:/[a-z0-9_]+)+\\.(?:h|cpp|mjs|sh))`");
  std::size_t count = 0;
  for (const fs::path& file : documents()) {
    const std::string prose = read_document(file).prose;
    for (std::sregex_iterator it(prose.begin(), prose.end(), name), end; it != end; ++it) {
      ++count;
      EXPECT_TRUE(ends.contains((*it)[1])) << file << " names " << (*it)[1];
    }
  }
  EXPECT_GT(count, 80u);
}

// ---- what the code knows
// ----------------------------------------------------------------------------------------------

TEST_F(Docs, ReferencesAreWhatTheCodeSays) {
  for (const char* name : {"recipe.md", "commands.md"}) {
    const std::string before = slurp(top / "docs" / name);
    spill(folder / name, before);
    EXPECT_EQ(supple({"reference", name}).code, 0);
    EXPECT_EQ(slurp(folder / name), before) << "run: ./supple reference docs/" << name;
  }
  // Every command is there, and every key of every section.
  const std::string commands = slurp(top / "docs/commands.md"), recipe = slurp(top / "docs/recipe.md");
  std::stringstream overview(supple({"--help"}).out);
  static const std::regex verb("^  ([a-z]+) .*");
  std::smatch match;
  std::size_t count = 0;
  for (std::string line; std::getline(overview, line);)
    if (std::regex_match(line, match, verb)) {
      ++count;
      EXPECT_NE(commands.find("\n## supple " + std::string(match[1]) + "\n"), std::string::npos) << line;
      // All that --help says but what all commands share.
      std::string help = supple({match[1], "--help"}).out;
      const std::size_t shared = help.find("\n\nCommon options:"), examples = help.find("\nExamples:");
      ASSERT_LT(shared, examples) << line;
      help.erase(shared, examples - shared);
      help.erase(help.find_last_not_of('\n') + 1);
      EXPECT_NE(commands.find("```text\n" + help + "\n```\n"), std::string::npos) << line;
    }
  EXPECT_GE(count, 18u);
  for (const RecipeKey& key : recipe_keys())
    EXPECT_NE(recipe.find("<!-- keys of " + std::string(key.section.empty() ? "the recipe" : key.section) + " -->"),
              std::string::npos)
        << key.section;
}

TEST_F(Docs, AReferenceThatIsOldIsBroughtUpToDate) {
  const std::string old = "before\n<!-- keys of [bones] -->\nold\n<!-- end of keys -->\nafter\n";
  spill(folder / "old.md", old);
  expect_refusal({"reference", "old.md", "--check"}, 3, "old.md: the code says otherwise");
  EXPECT_EQ(slurp(folder / "old.md"), old);
  ASSERT_EQ(supple({"reference", "old.md"}).code, 0);
  const std::string text = slurp(folder / "old.md");
  EXPECT_EQ(text.rfind("before\n<!-- keys of [bones] -->\n| key | meaning | default |\n|---|---|---|\n| `radius` |", 0),
            0u);
  EXPECT_NE(text.find("|\n<!-- end of keys -->\nafter\n"), std::string::npos) << text;
  EXPECT_EQ(supple({"reference", "old.md", "--check"}).code, 0);
  spill(folder / "open.md", "<!-- keys of [bones] -->\n");
  expect_refusal({"reference", "open.md"}, 3, "open.md: the mark");
  spill(folder / "other.md", "<!-- keys of [cloth] -->\n<!-- end of keys -->\n");
  expect_refusal({"reference", "other.md"}, 3, "no section [cloth]");
}

/// The reader asks the list of keys about every section, and about nothing else.
TEST_F(Docs, RecipesHaveTheKeysOfTheList) {
  ASSERT_EQ(supple({"example", "x_shape"}).code, 0);
  std::set<std::string> sections;
  for (const RecipeKey& key : recipe_keys()) sections.insert(std::string(key.section));
  for (const std::string& section : sections) {
    const std::string nested = section == "[[keyframes.key]]" ? "[[keyframes]]\nname = \"a\"\n"
                               : section == "[[reach.key]]"   ? "[[reach]]\nname = \"a\"\nroot = \"b\"\ntip = \"c\"\n"
                                                              : "";
    spill(folder / "r.toml", "input = \"x_shape.glb\"\n" + nested + section + "\nqqqqzzzzqqqq = 1\n");
    const CliRun run = supple({"build", "r.toml", "-o", "r.supple"});
    EXPECT_EQ(run.code, 3);
    std::string list;
    for (const std::string_view name : recipe_keys_of(section)) list += (list.empty() ? "" : ", ") + std::string(name);
    EXPECT_NE(run.err.find("has no key \"qqqqzzzzqqqq\"; it has " + list + ".\n"), std::string::npos)
        << section << ": " << run.err;
  }
}

}  // namespace
}  // namespace supple::cli_docs_test
