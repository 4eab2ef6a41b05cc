// SPDX-License-Identifier: Apache-2.0
// supple bench: the numbers we claim, measured again on this machine.
#include "command.h"

#include "bench/report.h"
#include "supple/io/file.h"

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <memory>

namespace supple::bench_verb {
namespace {

struct Options {
  std::string name;
  std::string csv;
  std::string plots;
  std::string results;
  std::vector<std::string> only;
  bool quick = false;
};

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02} UTC", 1900 + parts.tm_year, 1 + parts.tm_mon, parts.tm_mday,
                     parts.tm_hour, parts.tm_min);
}

/// How many processes wanted to run in the last minute; on a quiet machine nearly none.
double load() {
  double last_minute = 0;
  return getloadavg(&last_minute, 1) == 1 ? last_minute : 0.0;
}

/// FOLDER/NAME.csv, beside it what there is to know of the run, and figures: what `supple report` reads.
Status write_results(const Options& options, const bench::Report& report, Json about) {
  const std::filesystem::path folder = options.results;
  SUPPLE_RETURN_IF_ERROR(write_file_atomically(folder / (options.name + ".csv"), report.to_csv()));
  SUPPLE_RETURN_IF_ERROR(write_file_atomically(folder / (options.name + ".json"), about.dump(2) + "\n"));
  return report.write_plots(folder / "figures");
}

Status bench_command(const Options& options, Session& session) {
  if (!options.results.empty()) SUPPLE_RETURN_IF_ERROR(session.files.make_folder(options.results));
  if (!options.csv.empty()) SUPPLE_RETURN_IF_ERROR(check_output(session, options.csv, {}));
  if (!options.plots.empty()) SUPPLE_RETURN_IF_ERROR(session.files.make_folder(options.plots));
  session.progress.stage("measuring");
  Json about = {{"bench", options.name},
                {"sizes", options.quick ? "quick" : "full"},
                {"date", utc_now()},
                {"load_before", load()}};
  const auto start = std::chrono::steady_clock::now();
  const Result<bench::Report> report = bench::run(options.name, {.quick = options.quick, .only = options.only});
  SUPPLE_RETURN_IF_ERROR(report);
  if (!options.csv.empty()) SUPPLE_RETURN_IF_ERROR(write_file_atomically(options.csv, report->to_csv()));
  if (!options.plots.empty()) SUPPLE_RETURN_IF_ERROR(report->write_plots(options.plots));
  session.result.update(Json::parse(report->to_json()));
  about["seconds"] = std::round(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  about["machine"] = session.result["machine"];
  about["build"] = session.result["build"];
  if (!options.results.empty()) SUPPLE_RETURN_IF_ERROR(write_results(options, *report, std::move(about)));
  session.text = report->to_text();
  return {};
}

RunCommand add(CLI::App& app) {
  describe(app,
           "Measures Supple on this machine and prints one row per number: its value, the published figure, another\n"
           "program's, and our target. Medians on one thread unless the row says otherwise.\n",
           "  supple bench fem\n"
           "  supple bench fem --quick --json fem.json --csv fem.csv\n"
           "  supple bench subspace --plots figures\n"
           "  supple bench domains --results bench/results/epyc-avx2-2core\n"
           "  supple bench pose --only X,gorilla\n");
  const auto options = std::make_shared<Options>();
  app.add_option("NAME", options->name, fmt::format("Which one: {}", fmt::join(bench::benchmark_names(), ", ")))
      ->required();
  app.add_flag("--quick", options->quick, "Smaller sizes and fewer repetitions");
  CLI::Option* only = app.add_option(
      "--only", options->only,
      "Parts of the benchmark; of pose: rigs, arm, X, bear, gorilla, large, modes, mascot, truth; of domains:\n"
      "flower, letters, dragon, station, oak, accuracy, sway, truth, momentum, energy, scaling; of quasistatic:\n"
      "arm220k, arm259k, body864k");
  only->delimiter(',')->type_name("PARTS");
  app.add_option("--csv", options->csv, "Write the rows as CSV")->type_name("FILE");
  app.add_option("--results", options->results,
                 "Write all of it for `supple report` into this folder of a machine: NAME.csv, NAME.json with the\n"
                 "machine, the build and the day, and figures")
      ->type_name("FOLDER")
      ->excludes(only);
  app.add_option("--plots", options->plots, "Write figures as SVG into this folder")->type_name("FOLDER");
  return [options](Session& session) { return bench_command(*options, session); };
}

const RegisteredCommand registered{90, "bench", "Measure speed, memory and accuracy on this machine.", add};

}  // namespace
}  // namespace supple::bench_verb
