// SPDX-License-Identifier: Apache-2.0
// supple report: its numbers are those of the CSV files, and what is missing is in red.
#include "run_cli.h"
#include "supple/io/gltf/gltf_uri.h"

#include <map>
#include <regex>
#include <set>

namespace supple::cli_report_test {
namespace {

namespace fs = std::filesystem;

const fs::path top = SUPPLE_SOURCE_DIR;

/// table, row, metric, value, paper, peer, target
using Numbers = std::set<std::vector<std::string>>;

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::stringstream text(line);
  for (std::string field; std::getline(text, field, ',');) fields.push_back(field);
  fields.resize(9);
  return fields;
}

std::string unescaped(std::string text) {
  for (const auto& [from, to] : std::map<std::string, std::string>{{"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}})
    for (std::size_t at; (at = text.find(from)) != std::string::npos;) text.replace(at, from.size(), to);
  for (std::size_t at; (at = text.find("&amp;")) != std::string::npos;) text.replace(at, 5, "&");
  return text;
}

struct PageRow {
  std::string kind;  ///< "missing" and the like
  std::vector<std::string> cells;
};

/// What a reader sees: every row of every table of results.
std::map<std::string, std::vector<PageRow>> tables_of(const std::string& page) {
  std::map<std::string, std::vector<PageRow>> tables;
  const std::string open = "<table class=\"results\" data-table=\"";
  for (std::size_t at = 0; (at = page.find(open, at)) != std::string::npos;) {
    at += open.size();
    const std::string name = page.substr(at, page.find('"', at) - at);
    const std::string body = page.substr(at, page.find("</table>", at) - at);
    static const std::regex row("<tr class=\"([a-z]*)\">(.*)</tr>"), cell("<td class=\"[a-z ]*\">([^<]*)</td>");
    for (std::sregex_iterator it(body.begin(), body.end(), row), end; it != end; ++it) {
      PageRow& found = tables[name].emplace_back(PageRow{(*it)[1], {}});
      const std::string cells = (*it)[2];
      for (std::sregex_iterator c(cells.begin(), cells.end(), cell); c != end; ++c)
        found.cells.push_back(unescaped((*c)[1]));
    }
  }
  return tables;
}

class ReportCli : public CliTest {
 protected:
  /// Copies what git has of a machine with both CSV files that the tests look into.
  void SetUp() override {
    CliTest::SetUp();
    fs::create_directories(folder / "results");
    for (const auto& machine : fs::directory_iterator(top / "bench/results"))
      if (fs::exists(machine.path() / "fem.csv") && fs::exists(machine.path() / "subspace.csv")) {
        fs::copy(machine.path(), folder / "results/here", fs::copy_options::recursive);
        break;
      }
    ASSERT_TRUE(fs::exists(folder / "results/here/subspace.csv"));
  }
  nlohmann::json report() const {
    return supple_json({"report", "-o", "page.html", "--results", "results", "--force"});
  }
  std::string page() const { return slurp(folder / "page.html"); }

  /// Replaces the only line of a CSV that begins like that.
  void replace_line(const std::string& file, const std::string& begin, const std::string& with) const {
    std::string text = slurp(folder / file);
    const std::size_t at = text.find("\n" + begin);
    ASSERT_NE(at, std::string::npos) << begin;
    const std::size_t end = text.find('\n', at + 1);
    text.replace(at + 1, end - at, with);
    spill(folder / file, text);
  }

  std::vector<PageRow> rows(const std::string& table, const std::string& row, const std::string& metric) const {
    std::vector<PageRow> found;
    const std::map<std::string, std::vector<PageRow>> tables = tables_of(page());
    for (const PageRow& one : tables.at(table))
      if (one.cells.at(0) == row && one.cells.at(1) == metric) found.push_back(one);
    return found;
  }
};

TEST_F(ReportCli, ItsNumbersAreThoseOfTheFiles) {
  Numbers measured;
  std::size_t lines = 0;
  for (const auto& file : fs::directory_iterator(folder / "results/here")) {
    if (file.path().extension() != ".csv") continue;
    std::ifstream text(file.path());
    std::string line;
    std::getline(text, line);
    while (std::getline(text, line)) {
      const std::vector<std::string> f = fields_of(line);
      if (f[3].empty()) continue;  // says why there is none
      measured.insert({f[0], f[1], f[2], f[3], f[5], f[6], f[7]});
      ++lines;
    }
  }
  ASSERT_GT(lines, 150u);
  const nlohmann::json told = report();
  Numbers shown;
  std::size_t rows = 0, missing = 0;
  for (const auto& [table, entries] : tables_of(page()))
    for (const PageRow& row : entries) {
      ASSERT_EQ(row.cells.size(), 9u);
      if (row.kind == "missing") {
        ++missing;
        continue;
      }
      ++rows;
      shown.insert({table, row.cells[0], row.cells[1], row.cells[2], row.cells[4], row.cells[6], row.cells[7]});
    }
  EXPECT_EQ(shown, measured);
  EXPECT_EQ(rows, lines) << "a number is shown twice, or not at all";
  EXPECT_EQ(told["numbers"], rows);
  EXPECT_EQ(told["missing"], missing);
}

TEST_F(ReportCli, ARowThatIsTakenAwayTurnsRed) {
  const std::size_t before = report()["missing"];
  ASSERT_EQ(rows("subspace/figure11", "bridge", "step_us").at(0).kind, "");
  replace_line("results/here/subspace.csv", "subspace/figure11,bridge,step_us,", "");
  EXPECT_EQ(report()["missing"], before + 1);
  const std::vector<PageRow> gone = rows("subspace/figure11", "bridge", "step_us");
  ASSERT_EQ(gone.size(), 1u);
  EXPECT_EQ(gone[0].kind, "missing");
  EXPECT_EQ(gone[0].cells[2], "");
  // Red is what the page's style makes of it.
  EXPECT_NE(page().find("tr.missing td { color: var(--bad)"), std::string::npos);
  EXPECT_NE(page().find("--bad: #c01010"), std::string::npos);
}

TEST_F(ReportCli, ARowThatBrokeSaysWhyInRed) {
  replace_line("results/here/subspace.csv", "subspace/figure11,bridge,step_us,",
               "subspace/figure11,bridge,step_us,,us,65.4,,,\"the \"\"bridge\"\" fell, twice\"\n");
  report();
  const std::vector<PageRow> broken = rows("subspace/figure11", "bridge", "step_us");
  ASSERT_EQ(broken.size(), 1u);
  EXPECT_EQ(broken[0].kind, "missing");
  EXPECT_EQ(broken[0].cells[4], "65.4");
  EXPECT_EQ(broken[0].cells[8], "the \"bridge\" fell, twice");
}

TEST_F(ReportCli, ABenchmarkThatNeverRanSaysHowToRunIt) {
  const std::size_t before = report()["missing"];
  fs::remove(folder / "results/here/fem.csv");
  EXPECT_GT(report()["missing"], before);
  EXPECT_NE(page().find("<p class=\"missing\">There is no fem.csv of this machine: supple bench fem --results"),
            std::string::npos);
}

TEST_F(ReportCli, ItTellsWhenAndHowItWasMeasured) {
  fs::remove(folder / "results/here/fem.json");
  report();
  EXPECT_NE(page().find("Nothing tells when and with which build this was measured"), std::string::npos);
  spill(
      folder / "results/here/fem.json",
      R"({"sizes": "quick", "date": "2031-02-03 04:05 UTC", "load_before": 3.25, "machine": {"processor": "A<B", "cores": 7}})");
  report();
  // Small meshes are not compared with the paper's.
  spill(folder / "results/here/subspace.json", R"({"sizes": "quick"})");
  EXPECT_NE(rows("subspace/figure11", "bridge", "step_us").at(0).cells[5], "");
  report();
  EXPECT_EQ(rows("subspace/figure11", "bridge", "step_us").at(0).cells[5], "");
  for (const char* words : {"2031-02-03 04:05 UTC", "A&lt;B", "Measured on small meshes (--quick)", "(3.2 processes)"})
    EXPECT_NE(page().find(words), std::string::npos) << words;
}

TEST_F(ReportCli, ThePageNeedsNothingElse) {
  fs::create_directories(folder / "results/here/figures");
  spill(folder / "results/here/figures/a&b.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>");
  report();
  const std::string text = page();
  EXPECT_NE(text.find("alt=\"a&amp;b\" src=\"data:image/svg+xml;base64,"), std::string::npos);
  EXPECT_NE(text.find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(text.find("{{"), text.npos);
  static const std::regex outside("(src|href)=\"(?!data:)[^#\"]");
  EXPECT_FALSE(std::regex_search(text, outside));
  // Every figure of the papers has its place.
  for (const auto& [paper, figures, tables] :
       {std::tuple{"2005", 13, 0}, {"2011", 8, 1}, {"2014", 4, 2}, {"2016", 15, 3}}) {
    const std::size_t at = text.find(std::string("id=\"paper-") + paper);
    ASSERT_NE(at, text.npos);
    const std::string section = text.substr(at, text.find("</section>", at) - at);
    for (int k = 1; k <= figures; ++k)
      EXPECT_NE(section.find("<h3>Figure " + std::to_string(k) + ": "), std::string::npos) << paper << " Figure " << k;
    for (int k = 1; k <= tables; ++k)
      EXPECT_NE(section.find("<h3>Table " + std::to_string(k) + ": "), std::string::npos) << paper << " Table " << k;
  }
}

TEST_F(ReportCli, FilmsAndLiveCharactersOfTheFolderAreInIt) {
  fs::remove_all(folder / "results/here/figures");
  report();
  EXPECT_NE(page().find("<p class=\"missing\">There are none in the folder figures of this machine: ./go web"),
            std::string::npos);
  fs::create_directories(folder / "results/here/figures");
  const std::string live = "<html><script>1</script></html>";
  spill(folder / "results/here/figures/hero.html", live);
  spill(folder / "results/here/figures/hop.mp4", "film");
  spill(folder / "results/here/figures/hop.webp", "film");
  spill(folder / "results/here/figures/notes.txt", "nothing");
  report();
  const std::string text = page();
  EXPECT_NE(text.find("<video controls loop muted src=\"data:video/mp4;base64,ZmlsbQ==\""), std::string::npos);
  EXPECT_NE(text.find("alt=\"hop\" src=\"data:image/webp;base64,ZmlsbQ==\""), std::string::npos);
  EXPECT_EQ(text.find("notes"), std::string::npos);
  const std::size_t at = text.find("Play with hero</button><script type=\"text/plain\">");
  ASSERT_NE(at, std::string::npos);
  const std::size_t begin = text.find("plain\">", at) + 7;
  const auto bytes = decode_data_uri("data:;base64," + text.substr(begin, text.find("</script>", begin) - begin));
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->bytes, live);
}

TEST_F(ReportCli, WhatABenchmarkLeavesBehindIsItsData) {
  if (std::getenv("SUPPLE_NIGHTLY") == nullptr) GTEST_SKIP() << "measuring takes a while; ./go nightly does it";
  ASSERT_EQ(supple({"bench", "fem", "--quick", "--results", "results/new"}).code, 0);
  const nlohmann::json about = nlohmann::json::parse(slurp(folder / "results/new/fem.json"));
  EXPECT_EQ(about["sizes"], "quick");
  EXPECT_GE(about["machine"]["cores"], 1);
  ASSERT_EQ(supple({"report", "-o", "page.html", "--results", "results", "--machine", "new"}).code, 0);
  EXPECT_NE(page().find(about["date"].get<std::string>()), std::string::npos);
  EXPECT_EQ(rows("fem/step", "cube16k", "step_ms").at(0).kind == "missing", false);
  EXPECT_EQ(rows("fem/million", "tets1M", "load_s").at(0).kind, "missing") << "quick sizes are others";
}

TEST_F(ReportCli, WithoutANameItIsTheMachineThatWasMeasuredLast) {
  for (const auto& [machine, date] :
       {std::pair{"a", "2031-01-01 00:00 UTC"}, {"b", "2032-01-01 00:00 UTC"}, {"c", "2030-01-01 00:00 UTC"}}) {
    fs::copy(folder / "results/here", folder / "results" / machine);
    spill(folder / "results" / machine / "fem.json", std::string("{\"date\": \"") + date + "\"}");
  }
  EXPECT_EQ(report()["results"], "results/b");
}

TEST_F(ReportCli, FaultsAreSentences) {
  expect_refusal({"report", "-o", "page.pdf", "--results", "results"}, 2, "ends in .html");
  expect_refusal({"report", "-o", "page.html", "--results", "nowhere"}, 3, "nowhere");
  expect_refusal({"report", "-o", "page.html", "--results", "results", "--machine", "there"}, 2, "here");
  fs::create_directories(folder / "results/second");
  const std::vector<std::string> words = {"report", "-o", "page.html", "--results", "results", "--machine", "second"};
  const std::string header = "table,row,metric,value,unit,paper,peer,target,error\n";
  for (const auto& [text, fault] : std::map<std::string, std::string>{
           {"table,row\n", "line 1"},
           {header + "a/b,c,d,1,,,,\n", "line 2: there are 8 fields"},
           {header + "a/b,c,d,1,,,,,\na/b,c,d,many,,,,,\n", "line 3: \"many\" is not a number"},
           {header + "a/b,c,d,nan,,,,,\n", "\"nan\" is not a number"},
           {header + "a/b,c,d,1,,,,,\"open\n", "a quote is never closed"}}) {
    spill(folder / "results/second/fem.csv", text);
    expect_refusal(words, 3, fault);
  }
  spill(folder / "results/second/fem.csv", header);
  spill(folder / "results/second/fem.json", "[1]");
  expect_refusal(words, 3, "fem.json");
  EXPECT_FALSE(fs::exists(folder / "page.html"));
}

}  // namespace
}  // namespace supple::cli_report_test
