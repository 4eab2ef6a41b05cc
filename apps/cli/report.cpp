// SPDX-License-Identifier: Apache-2.0
// supple report: the tables and figures of the papers as one page, from what `supple bench` has measured.
#include "command.h"
#include "paper_page.h"
#include "supple/io/file.h"

#include <algorithm>
#include <memory>

namespace supple::report_verb {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string output, results, machine;
};

/// bench/results of the current folder or of the source that this program was built from, or what was installed with
/// it.
Result<fs::path> find_results(const std::string& named) {
  std::error_code none;
  if (!named.empty()) {
    if (fs::is_directory(named, none)) return fs::path(named);
    return input_error(fmt::format("{}: it isn't a folder; name the one that holds a folder for each machine", named));
  }
  const fs::path program = fs::read_symlink("/proc/self/exe", none).parent_path();
  for (const fs::path& place :
       {fs::path("bench/results"), program / "../../bench/results", program / "../share/supple/results"})
    if (fs::is_directory(place, none)) return place.lexically_normal();
  return input_error(
      "there are no results of benchmarks here; ./go bench measures them, and --results names their folder");
}

std::vector<std::string> folders_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none))
    if (entry.is_directory(none)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// When a machine was last measured, as text that sorts by time; empty where nothing tells.
std::string last_measured(const fs::path& folder) {
  std::string last;
  const Result<std::vector<MeasuredRun>> runs = read_measured_runs(folder, report_benches());
  if (!runs.ok()) return last;
  for (const MeasuredRun& run : *runs)
    if (run.about.is_object()) last = std::max(last, run.about.value("date", std::string()));
  return last;
}

/// The one that is named, or the one that was measured last.
Result<std::string> choose_machine(const fs::path& results, const std::string& named) {
  const std::vector<std::string> machines = folders_in(results);
  if (machines.empty())
    return input_error(fmt::format("{}: it holds no folder of a machine; ./go bench makes one", results.string()));
  if (named.empty())
    return *std::max_element(machines.begin(), machines.end(), [&](const std::string& a, const std::string& b) {
      return last_measured(results / a) < last_measured(results / b);
    });
  if (std::find(machines.begin(), machines.end(), named) != machines.end()) return named;
  return usage_error(
      fmt::format("there are no results of a machine \"{}\", but of {}", named, fmt::join(machines, ", ")));
}

/// What a file of the folder is to a browser; empty: nothing for the report.
std::string_view media_type_of(const fs::path& file) {
  static constexpr std::pair<std::string_view, std::string_view> kinds[] = {{".svg", "image/svg+xml"},
                                                                            {".png", "image/png"},
                                                                            {".webp", "image/webp"},
                                                                            {".mp4", "video/mp4"},
                                                                            {".html", "text/html"}};
  for (const auto& [ending, type] : kinds)
    if (file.extension() == ending) return type;
  return {};
}

/// What --plots drew, films, and pages of characters, in order of their names.
Result<std::vector<ReportPicture>> read_pictures(const fs::path& folder) {
  std::vector<ReportPicture> pictures;
  std::vector<fs::path> files;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    const std::string_view type = media_type_of(file);
    if (type.empty()) continue;
    const Result<std::string> bytes = read_file(file);
    SUPPLE_RETURN_IF_ERROR(bytes);
    pictures.push_back({file.stem().string(), std::string(type), *bytes});
  }
  return pictures;
}

Status write_report(const Options& options, Session& session) {
  const std::string ending = fs::path(options.output).extension().string();
  if (ending != ".html" && ending != ".htm")
    return usage_error(fmt::format("-o {}: a page's file ends in .html", options.output));
  SUPPLE_RETURN_IF_ERROR(check_output(session, options.output, {}));
  const Result<fs::path> results = find_results(options.results);
  SUPPLE_RETURN_IF_ERROR(results);
  const Result<std::string> machine = choose_machine(*results, options.machine);
  SUPPLE_RETURN_IF_ERROR(machine);
  const Result<std::vector<MeasuredRun>> runs = read_measured_runs(*results / *machine, report_benches());
  SUPPLE_RETURN_IF_ERROR(runs);
  const Result<std::vector<ReportPicture>> pictures = read_pictures(*results / *machine / "figures");
  SUPPLE_RETURN_IF_ERROR(pictures);
  const ReportPage page = make_report_page(*machine, *runs, *pictures);
  SUPPLE_RETURN_IF_ERROR(write_file_atomically(options.output, page.html));
  session.line("results       {}", (*results / *machine).string());
  session.line("page          {}: {} numbers, {} missing or broken; open it in any browser", options.output, page.shown,
               page.missing);
  session.result["results"] = (*results / *machine).string();
  session.result["page"] = options.output;
  session.result["numbers"] = page.shown;
  session.result["missing"] = page.missing;
  session.result["figures"] = page.figures;
  session.result["unmeasured_figures"] = page.unmeasured;
  return {};
}

RunCommand add(CLI::App& app) {
  describe(
      app,
      "Makes one page (.html) with every table and figure of the four papers: what was published beside what\n"
      "`supple bench` has measured, the machine, and the command that measures it again. What is missing or\n"
      "broken is in red. Drawings, films (.svg, .png, .webp, .mp4) and pages of `supple view` (.html) in the folder\n"
      "figures beside the numbers are put in. The page needs nothing else: open it from the disk.\n",
      "  supple report -o report.html\n"
      "  supple report -o report.html --results bench/results --machine epyc-avx2-2core\n");
  const auto options = std::make_shared<Options>();
  app.add_option("-o,--output", options->output, "The page to write")->required()->type_name("FILE.html");
  app.add_option("--results", options->results, "The folder with a folder of results for each machine [bench/results]")
      ->type_name("FOLDER");
  app.add_option("--machine", options->machine, "Whose results [those of the machine that was measured last]")
      ->type_name("NAME");
  return [options](Session& session) { return write_report(*options, session); };
}

const RegisteredCommand registered{91, "report", "Put what was measured beside the papers' figures, as one page.", add};

}  // namespace
}  // namespace supple::report_verb
