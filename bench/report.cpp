// SPDX-License-Identifier: Apache-2.0
#include "bench/report.h"

#include "supple/base/parallel.h"
#include "supple/math/simd/lanes.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <Eigen/Core>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <limits>
#include <thread>

namespace supple::bench {
namespace {

nlohmann::json number_or_null(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

std::string text_or_dash(const std::optional<double>& value) { return value ? fmt::format("{:.4g}", *value) : "-"; }

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

nlohmann::json machine() {
  const double memory = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  return {{"processor", processor_name()},
          {"cores", std::thread::hardware_concurrency()},
          {"memory_gib", std::round(memory / (1 << 30))}};
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

/// Everything written to the pipe, or what was there when it closed.
std::vector<double> read_all(int pipe_end) {
  std::vector<double> values;
  double value = 0;
  while (::read(pipe_end, &value, sizeof value) == static_cast<ssize_t>(sizeof value)) values.push_back(value);
  return values;
}

}  // namespace

void Report::add(Row row) { rows_.push_back(std::move(row)); }

void Report::add_plot(std::string name, Plot plot) { plots_.emplace_back(std::move(name), std::move(plot)); }

Status Report::write_plots(const std::filesystem::path& folder) const {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return input_error(
        fmt::format("the folder {} for plots can't be made ({}); name another", folder.string(), error.message()));
  }
  for (const auto& [name, plot] : plots_) SUPPLE_RETURN_IF_ERROR(write_plot(folder / (name + ".svg"), plot));
  return {};
}

std::string Report::to_text() const {
  std::size_t widest = 0;
  for (const Row& r : rows_) widest = std::max(widest, r.table.size() + r.row.size() + 1);
  std::string text = fmt::format("{:<{}} {:<26} {:>11} {:<6} {:>9} {:>9} {:>9}\n", "row", widest, "metric", "value",
                                 "unit", "paper", "peer", "target");
  for (const Row& r : rows_) {
    text += fmt::format("{:<{}} {:<26} {:>11} {:<6} {:>9} {:>9} {:>9}{}\n", r.table + "/" + r.row, widest, r.metric,
                        text_or_dash(r.value), r.unit, text_or_dash(r.paper), text_or_dash(r.peer),
                        text_or_dash(r.target), r.error.empty() ? "" : "  " + r.error);
  }
  return text;
}

std::string Report::to_json() const {
  nlohmann::json rows = nlohmann::json::array();
  for (const Row& r : rows_) {
    nlohmann::json row = {{"table", r.table},
                          {"row", r.row},
                          {"metric", r.metric},
                          {"value", number_or_null(r.value)},
                          {"unit", r.unit},
                          {"paper", number_or_null(r.paper)},
                          {"peer", number_or_null(r.peer)},
                          {"target", number_or_null(r.target)}};
    if (!r.error.empty()) row["error"] = r.error;
    rows.push_back(std::move(row));
  }
  const nlohmann::json document = {
      {"machine", machine()}, {"build", {{"compiler", __VERSION__}, {"flags", SUPPLE_BUILD_FLAGS}}}, {"rows", rows}};
  return document.dump(2) + "\n";
}

std::string Report::to_csv() const {
  std::string text = "table,row,metric,value,unit,paper,peer,target,error\n";
  const auto cell = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.6g}", *value) : std::string();
  };
  for (const Row& r : rows_) {
    text += fmt::format("{},{},{},{},{},{},{},{},{}\n", csv_field(r.table), csv_field(r.row), r.metric, cell(r.value),
                        r.unit, cell(r.paper), cell(r.peer), cell(r.target), csv_field(r.error));
  }
  return text;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double median_ms(int repetitions, const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  work();
  std::vector<double> times;
  for (int k = 0; k < repetitions; ++k) {
    const auto start = Clock::now();
    work();
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  return median(std::move(times));
}

double best_ms(int repetitions, const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  work();
  double best = std::numeric_limits<double>::infinity();
  for (int k = 0; k < repetitions; ++k) {
    const auto start = Clock::now();
    work();
    best = std::min(best, std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  return best;
}

double read_bandwidth(std::size_t bytes) {
  using Lanes = LanesOf<double>;
  constexpr std::size_t together = 8;  // enough sums that no addition waits for the one before
  std::vector<Lanes> data(std::max<std::size_t>(1, bytes / sizeof(Lanes) / together) * together, Lanes(1.0));
  const double once = static_cast<double>(data.size() * sizeof(Lanes));
  const int rounds = std::max(1, static_cast<int>(4e6 / once));
  double total = 0;
  const double ms = best_ms(31, [&] {
    // Sums of the function's own stay in registers; others would go to memory and back with each addition.
    Lanes sums[together];
    std::fill(sums, sums + together, Lanes(0.0));
    for (int round = 0; round < rounds; ++round)
      for (std::size_t k = 0; k < data.size(); k += together)
        for (std::size_t i = 0; i < together; ++i) sums[i] += data[k + i];
    for (const Lanes& sum : sums) total += sum_of(sum);
  });
  // The sum must be used, or the loop is dropped.
  return total > 0 ? once * rounds / (ms * 1e6) : 0.0;
}

double product_gflops() {
  constexpr Eigen::Index n = 256;
  Eigen::MatrixXf A = Eigen::MatrixXf::Random(n, n), B = Eigen::MatrixXf::Random(n, n), C(n, n);
  const double ms = best_ms(31, [&] { C.noalias() = A * B; });
  return C.allFinite() ? 2.0 * n * n * n / (ms * 1e6) : 0.0;
}

Result<ChildResult> run_in_child(const std::function<std::vector<double>()>& work) {
  int ends[2];
  if (pipe(ends) != 0) return failure("no pipe could be opened");
  const pid_t child = fork();
  if (child < 0) return failure("no process could be started");
  if (child == 0) {
    const std::vector<double> values = work();
    const auto bytes = static_cast<ssize_t>(values.size() * sizeof(double));
    _exit(::write(ends[1], values.data(), to_size(bytes)) == bytes ? 0 : 1);
  }
  close(ends[1]);
  ChildResult result;
  result.values = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  rusage usage{};
  if (wait4(child, &status, 0, &usage) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return failure("the measured process failed, perhaps for lack of memory");
  }
  result.peak_memory = 1024.0 * static_cast<double>(usage.ru_maxrss);
  return result;
}

double fitted_exponent(const std::vector<double>& x, const std::vector<double>& y) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  const auto n = static_cast<double>(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double lx = std::log(x[k]);
    const double ly = std::log(y[k]);
    sx += lx, sy += ly, sxx += lx * lx, sxy += lx * ly;
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

std::vector<std::string> benchmark_names() { return {"fem", "subspace", "pose", "domains", "quasistatic"}; }

Result<Report> run(const std::string& name, const Options& options) {
  const int threads = thread_count();
  set_thread_count(1);
  std::optional<Report> report;
  if (name == "fem") report = run_fem(options);
  if (name == "subspace") report = run_subspace(options);
  if (name == "pose") report = run_pose(options);
  if (name == "domains") report = run_domains(options);
  if (name == "quasistatic") report = run_quasistatic(options);
  set_thread_count(threads);
  if (!report)
    return usage_error(
        fmt::format("there is no benchmark \"{}\"; choose one of: {}", name, fmt::join(benchmark_names(), ", ")));
  return *std::move(report);
}

}  // namespace supple::bench
