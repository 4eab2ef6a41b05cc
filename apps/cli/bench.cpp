// SPDX-License-Identifier: Apache-2.0
// supple bench: the numbers we claim, measured again on this machine.
#include "command.h"

#include "bench/report.h"
#include "supple/io/file.h"

#include <memory>

namespace supple::bench_verb {
namespace {

struct Options {
  std::string name;
  std::string csv;
  std::string plots;
  std::vector<std::string> only;
  bool quick = false;
};

Status bench_command(const Options& options, Session& session) {
  if (!options.csv.empty()) SUPPLE_RETURN_IF_ERROR(check_output(session, options.csv, {}));
  if (!options.plots.empty()) SUPPLE_RETURN_IF_ERROR(session.files.make_folder(options.plots));
  session.progress.stage("measuring");
  const Result<bench::Report> report = bench::run(options.name, {.quick = options.quick, .only = options.only});
  SUPPLE_RETURN_IF_ERROR(report);
  if (!options.csv.empty()) SUPPLE_RETURN_IF_ERROR(write_file_atomically(options.csv, report->to_csv()));
  if (!options.plots.empty()) SUPPLE_RETURN_IF_ERROR(report->write_plots(options.plots));
  session.result.update(Json::parse(report->to_json()));
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
           "  supple bench pose --only X,gorilla\n");
  const auto options = std::make_shared<Options>();
  app.add_option("NAME", options->name, fmt::format("Which one: {}", fmt::join(bench::benchmark_names(), ", ")))
      ->required();
  app.add_flag("--quick", options->quick, "Smaller sizes and fewer repetitions");
  app.add_option(
         "--only", options->only,
         "Parts of the benchmark; of pose: rigs, arm, X, bear, gorilla, large, modes, mascot, truth; of domains:\n"
         "flower, letters, dragon, station, oak, accuracy, sway, truth, momentum, energy, scaling; of quasistatic:\n"
         "arm220k, arm259k, body864k")
      ->delimiter(',')
      ->type_name("PARTS");
  app.add_option("--csv", options->csv, "Write the rows as CSV")->type_name("FILE");
  app.add_option("--plots", options->plots, "Write figures as SVG into this folder")->type_name("FOLDER");
  return [options](Session& session) { return bench_command(*options, session); };
}

const RegisteredCommand registered{90, "bench", "Measure speed, memory and accuracy on this machine.", add};

}  // namespace
}  // namespace supple::bench_verb
