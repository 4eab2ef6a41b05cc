// SPDX-License-Identifier: Apache-2.0
#include "paper_page.h"

#include "report_parts.h"
#include "supple/io/gltf/gltf_uri.h"
#include "supple/io/xml_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

namespace supple {
namespace {

using Json = nlohmann::ordered_json;

const Json& papers() {
  static const Json parsed = Json::parse(report_parts::papers);
  return parsed;
}

/// The pieces of a text between `mark`s.
std::vector<std::string> pieces_of(std::string text, std::string_view mark) {
  std::vector<std::string> pieces;
  for (std::size_t at = 0; (at = text.find(mark)) != std::string::npos; text.erase(0, at + mark.size()))
    pieces.push_back(text.substr(0, at));
  pieces.push_back(std::move(text));
  return pieces;
}

/// A machine where more than this wants to run is not quiet.
constexpr double busy_load = 0.5;

using Key = std::pair<std::string, std::string>;  ///< row, metric

/// "spoon, bridge: step_us evaluate_us" stands for all four pairs.
std::vector<Key> expected_keys(const Json& item) {
  std::vector<Key> keys;
  for (const std::string line : item.value("rows", Json::array())) {
    const std::size_t colon = line.rfind(": ");
    for (const std::string& row : pieces_of(line.substr(0, colon), ", "))
      for (const std::string& metric : pieces_of(line.substr(colon + 2), " ")) keys.emplace_back(row, metric);
  }
  return keys;
}

std::string bench_of(const std::string& table) { return table.substr(0, table.find('/')); }

/// Whether a value reaches its target: more is better, near is better, or less is.
bool meets(const std::string& metric, double value, double target) {
  const auto listed = [&](const char* list) {
    const Json& names = papers().at(list);
    return std::any_of(names.begin(), names.end(),
                       [&](const Json& name) { return metric.starts_with(std::string(name)); });
  };
  if (listed("larger_is_better")) return value >= target;
  if (listed("near_is_better")) return std::abs(value - target) <= 0.1 * std::abs(target);
  return value <= target;
}

/// How many times as much the published figure is, where less is better. Small meshes are nothing to compare with.
std::string gain(const MeasuredRow& row, bool quick) {
  if (quick) return {};
  static const std::set<std::string> costs = {"ms", "us", "s", "KiB", "MiB", "GiB", "MB", "B"};
  if (row.value.empty() || row.paper.empty() || !costs.contains(row.unit)) return {};
  const double value = std::strtod(row.value.c_str(), nullptr), paper = std::strtod(row.paper.c_str(), nullptr);
  return value > 0 ? fmt::format("{:.3g} ×", paper / value) : std::string();
}

std::string cell(const std::string& text, std::string_view kind = "number") {
  return fmt::format("<td class=\"{}\">{}</td>", kind, xml_escaped(text));
}

class PageWriter {
 public:
  explicit PageWriter(const std::vector<MeasuredRun>& runs) {
    for (const MeasuredRun& run : runs) {
      runs_[run.bench] = &run;
      for (const MeasuredRow& row : run.rows) tables_[row.table].push_back(&row);
    }
  }

  void add_paper(const Json& paper) {
    body_ += fmt::format(
        "<section class=\"paper\" id=\"paper-{0}\"><h2>{1} <span class=\"year\">{0}</span></h2><p>{2}</p>\n",
        std::string(paper.at("year")), xml_escaped(std::string(paper.at("name"))),
        xml_escaped(std::string(paper.at("title"))));
    for (const Json& item : paper.at("items")) add_item(item);
    body_ += "</section>\n";
  }

  /// Tables that belong to no paper.
  void add_others() {
    body_ += "<section class=\"paper\" id=\"others\"><h2>Beyond the papers</h2>\n";
    for (const Json& item : papers().at("others")) add_item(item);
    for (const auto& [table, rows] : tables_) {
      std::vector<const MeasuredRow*> left;
      std::copy_if(rows.begin(), rows.end(), std::back_inserter(left),
                   [&](const MeasuredRow* row) { return !shown_.contains(row); });
      if (!left.empty()) add_table(table, {}, left);
    }
    body_ += "</section>\n";
  }

  void add_pictures(const std::vector<ReportPicture>& pictures) {
    body_ += "<section id=\"pictures\"><h2>Drawings and films</h2>\n";
    bool any = false;
    for (const ReportPicture& picture : pictures) {
      if (is_live(picture)) continue;
      any = true;
      const std::string source = encode_data_uri(picture.media_type, picture.bytes), name = xml_escaped(picture.name);
      body_ += picture.media_type.starts_with("video/")
                   ? fmt::format(
                         "<figure><video controls loop muted src=\"{}\"></video><figcaption>{}</figcaption></figure>\n",
                         source, name)
                   : fmt::format("<figure><img alt=\"{0}\" src=\"{1}\"><figcaption>{0}</figcaption></figure>\n", name,
                                 source);
    }
    if (!any)
      body_ +=
          "<p class=\"missing\">There are none in the folder figures of this machine: ./go bench makes them.</p>\n";
    body_ += "</section>\n";
  }

  /// Pages within the page: megabytes that nothing unpacks before somebody asks.
  void add_live(const std::vector<ReportPicture>& pictures) {
    body_ += "<section id=\"live\"><h2>Live characters</h2>\n";
    bool any = false;
    for (const ReportPicture& picture : pictures) {
      if (!is_live(picture)) continue;
      any = true;
      const std::string text = encode_data_uri("", picture.bytes);
      body_ += fmt::format(
          "<figure class=\"live\"><button type=\"button\">Play with {0}</button>"
          "<script type=\"text/plain\">{1}</script><figcaption>{0}, simulated in this page</figcaption></figure>\n",
          xml_escaped(picture.name), std::string_view(text).substr(text.find(',') + 1));
    }
    if (!any)
      body_ +=
          "<p class=\"missing\">There are none in the folder figures of this machine: ./go web, then ./go bench makes "
          "them.</p>\n";
    body_ += "</section>\n";
  }

  ReportPage take() {
    page_.html = std::move(body_);
    return std::move(page_);
  }

 private:
  static bool is_live(const ReportPicture& picture) { return picture.media_type == "text/html"; }

  void add_item(const Json& item) {
    const std::string name = item.value("item", std::string());
    if (!name.empty()) ++page_.figures;
    body_ += fmt::format("<article><h3>{}{}</h3>\n", name.empty() ? "" : xml_escaped(name) + ": ",
                         xml_escaped(std::string(item.at("what"))));
    if (item.contains("note")) body_ += fmt::format("<p>{}</p>\n", xml_escaped(std::string(item.at("note"))));
    if (item.contains("missing")) {
      ++page_.unmeasured;
      body_ += fmt::format("<p class=\"missing\">Not measured: {}</p>\n", xml_escaped(std::string(item.at("missing"))));
    }
    if (item.contains("command"))
      body_ += fmt::format("<p class=\"command\"><code>{}</code></p>\n", xml_escaped(std::string(item.at("command"))));
    if (item.contains("table")) {
      const std::string table = item.at("table");
      const std::vector<Key> expected = expected_keys(item);
      std::vector<const MeasuredRow*> rows = tables_[table];
      if (item.value("part", false))  // other figures share the table
        std::erase_if(rows, [&](const MeasuredRow* row) {
          return std::find(expected.begin(), expected.end(), Key(row->row, row->metric)) == expected.end();
        });
      add_state(bench_of(table));
      add_table(table, expected, rows);
    }
    body_ += "</article>\n";
  }

  /// What a reader has to know of the run before the numbers.
  void add_state(const std::string& bench) {
    const auto run = runs_.find(bench);
    if (run == runs_.end() || !run->second->there)
      body_ += fmt::format(
          "<p class=\"missing\">There is no {0}.csv of this machine: supple bench {0} --results FOLDER measures "
          "it.</p>\n",
          xml_escaped(bench));
    else if (!run->second->about.is_object())
      body_ += "<p class=\"missing\">Nothing tells when and with which build this was measured: it may be old.</p>\n";
    else {
      if (run->second->about.value("sizes", "") == "quick")
        body_ += "<p class=\"small\">Measured on small meshes (--quick), not on those of the paper's size.</p>\n";
      if (const double load = run->second->about.value("load_before", 0.0); load > busy_load)
        body_ += fmt::format(
            "<p class=\"small\">Others used the machine meanwhile ({:.1f} processes): times are too long.</p>\n", load);
    }
  }

  void add_table(const std::string& table, const std::vector<Key>& expected,
                 const std::vector<const MeasuredRow*>& rows) {
    body_ += fmt::format(
        "<table class=\"results\" data-table=\"{0}\"><caption>{0}</caption><thead><tr><th>row</th><th>metric</th>"
        "<th>ours</th><th>unit</th><th>paper</th><th>paper ÷ ours</th><th>other "
        "program</th><th>target</th><th></th></tr>"
        "</thead><tbody>\n",
        xml_escaped(table));
    std::set<Key> there;
    for (const MeasuredRow* row : rows) {
      there.insert({row->row, row->metric});
      shown_.insert(row);
      add_row(*row);
    }
    for (const Key& key : expected)
      if (!there.contains(key))
        add_row({.table = table,
                 .row = key.first,
                 .metric = key.second,
                 .error = "missing: it belongs here, and wasn't measured"});
    body_ += "</tbody></table>\n";
  }

  bool is_quick(const MeasuredRow& row) const {
    const auto run = runs_.find(bench_of(row.table));
    return run != runs_.end() && run->second->about.is_object() && run->second->about.value("sizes", "") == "quick";
  }

  void add_row(const MeasuredRow& row) {
    const bool broken = row.value.empty() || !row.error.empty();
    ++(broken ? page_.missing : page_.shown);
    std::string verdict = broken ? (row.error.empty() ? "no value" : row.error) : "";
    std::string kind = broken ? "missing" : "";
    if (!broken && !row.target.empty()) {
      const bool met =
          meets(row.metric, std::strtod(row.value.c_str(), nullptr), std::strtod(row.target.c_str(), nullptr));
      verdict = met ? "met" : "missed";
      kind = verdict;
    }
    body_ +=
        fmt::format("<tr class=\"{}\">{}{}{}{}{}{}{}{}{}</tr>\n", kind, cell(row.row, "name"), cell(row.metric, "name"),
                    cell(row.value, "number ours"), cell(row.unit == "1" ? "" : row.unit, "unit"), cell(row.paper),
                    cell(gain(row, is_quick(row))), cell(row.peer), cell(row.target), cell(verdict, "verdict"));
  }

  std::map<std::string, const MeasuredRun*> runs_;
  std::map<std::string, std::vector<const MeasuredRow*>> tables_;
  std::set<const MeasuredRow*> shown_;
  std::string body_;
  ReportPage page_;
};

/// A line for each benchmark: when, where, with which build.
std::string description_of(const std::vector<MeasuredRun>& runs) {
  std::string text =
      "<table class=\"runs\"><thead><tr><th>benchmark</th><th>measured</th><th>sizes</th><th>processor</th>"
      "<th>cores</th><th>memory</th><th>build</th></tr></thead><tbody>\n";
  for (const MeasuredRun& run : runs) {
    const bool told = run.there && run.about.is_object();
    const auto machine = told ? run.about.value("machine", nlohmann::json::object()) : nlohmann::json::object();
    const auto build = told ? run.about.value("build", nlohmann::json::object()) : nlohmann::json::object();
    const std::string when = !run.there ? "never" : told ? run.about.value("date", "?") : "at an unknown time";
    text += fmt::format("<tr class=\"{}\">{}{}{}{}{}{}{}</tr>\n", told ? "" : "missing", cell(run.bench, "name"),
                        cell(when, "name"), cell(told ? run.about.value("sizes", "?") : "", "name"),
                        cell(machine.value("processor", ""), "name"),
                        cell(machine.contains("cores") ? machine.at("cores").dump() : ""),
                        cell(machine.contains("memory_gib") ? machine.at("memory_gib").dump() + " GiB" : ""),
                        cell(build.value("compiler", "") + " " + build.value("flags", ""), "name"));
  }
  return text + "</tbody></table>\n";
}

std::string summary_of(const ReportPage& page) {
  return fmt::format(
      "<p id=\"summary\"><b>{}</b> numbers, <b class=\"{}\">{}</b> that belong here and are missing or broken; {} "
      "tables and "
      "figures of the papers, {} of which nothing is measured for.</p>\n",
      page.shown, page.missing > 0 ? "missing" : "", page.missing, page.figures, page.unmeasured);
}

/// `text` with each {{name}} replaced once.
std::string filled(std::string_view text, const std::map<std::string, std::string>& parts) {
  std::string out;
  for (std::size_t at = 0;;) {
    const std::size_t open = text.find("{{", at), close = text.find("}}", open);
    if (open == std::string_view::npos || close == std::string_view::npos) return out + std::string(text.substr(at));
    out += text.substr(at, open - at);
    out += parts.at(std::string(text.substr(open + 2, close - open - 2)));
    at = close + 2;
  }
}

}  // namespace

std::vector<std::string> report_benches() { return papers().at("benches").get<std::vector<std::string>>(); }

ReportPage make_report_page(const std::string& machine, const std::vector<MeasuredRun>& runs,
                            const std::vector<ReportPicture>& pictures) {
  PageWriter writer(runs);
  for (const Json& paper : papers().at("papers")) writer.add_paper(paper);
  writer.add_others();
  writer.add_pictures(pictures);
  writer.add_live(pictures);
  ReportPage page = writer.take();
  page.html = filled(report_parts::page, {{"style", std::string(report_parts::style)},
                                          {"script", std::string(report_parts::script)},
                                          {"machine", xml_escaped(machine)},
                                          {"runs", description_of(runs)},
                                          {"summary", summary_of(page)},
                                          {"body", page.html}});
  return page;
}

}  // namespace supple
