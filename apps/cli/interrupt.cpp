// SPDX-License-Identifier: Apache-2.0
#include "interrupt.h"

#include "supple/base/exit_code.h"
#include "supple/io/staging_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <string_view>
#include <thread>

namespace supple {
namespace {

constexpr std::chrono::milliseconds grace{700};  // for work to leave by its own doors
constexpr std::string_view farewell = "\rsupple: stopped; no unfinished file is left.\n";

volatile std::sig_atomic_t interrupt_flag = 0;
std::atomic<bool> told{false};
int alarm_pipe[2] = {-1, -1};

void on_interrupt(int) {
  interrupt_flag = 1;
  const char byte = 0;
  [[maybe_unused]] const ssize_t written = ::write(alarm_pipe[1], &byte, 1);
}

/// Waits for the interrupt, then for the work, and then no longer.
void watch() {
  char byte = 0;
  while (::read(alarm_pipe[0], &byte, 1) != 1) {
  }
  std::this_thread::sleep_for(grace);
  const std::string_view words = ::isatty(STDERR_FILENO) == 1 ? farewell : farewell.substr(1);
  if (!told.exchange(true)) {
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, words.data(), words.size());
  }
  exit_without_unfinished_files(interrupted_exit_code);
}

}  // namespace

void stop_on_interrupt() {
  if (::pipe2(alarm_pipe, O_CLOEXEC) == 0) std::thread(watch).detach();
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESETHAND | SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return interrupt_flag != 0; }

void tell_no_more_of_interrupts() { told = true; }

}  // namespace supple
