// SPDX-License-Identifier: Apache-2.0
#include "progress_bar.h"

#include "interrupt.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace supple {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds redraw_interval{50};
constexpr std::chrono::milliseconds patience{300};  // work that is over sooner shows no bar

bool is_terminal() {
  const char* term = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && term && std::string_view(term) != "dumb";
}

int terminal_width() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

std::string repeat(std::string_view piece, int count) {
  std::string text;
  for (int k = 0; k < count; ++k) text += piece;
  return text;
}

}  // namespace

ProgressBar::ProgressBar() : visible_(is_terminal()), stage_start_(Clock::now()) {}

void ProgressBar::clear() {
  if (!drawn_) return;
  std::fputs("\r\x1b[2K", stderr);
  std::fflush(stderr);
  drawn_ = false;
}

void ProgressBar::stage(std::string_view name) {
  stage_ = name;
  fraction_ = 0;
  stage_start_ = Clock::now();
}

void ProgressBar::update(double fraction) {
  if (!visible_) return;
  fraction_ = std::clamp(fraction, 0.0, 1.0);
  const Clock::time_point now = Clock::now();
  if (now - stage_start_ < patience || now - last_draw_ < redraw_interval) return;
  last_draw_ = now;
  draw();
}

bool ProgressBar::cancelled() const { return interrupted(); }

void ProgressBar::draw() {
  const double elapsed = std::chrono::duration<double>(Clock::now() - stage_start_).count();
  const std::string tail = fmt::format(" {:3.0f} %  {:.0f} s", 100 * fraction_, elapsed);
  const int room = terminal_width() - static_cast<int>(stage_.size() + tail.size()) - 4;
  const int width = std::clamp(room, 0, 40);
  const int filled = static_cast<int>(fraction_ * width);
  fmt::print(stderr, "\r\x1b[2K{}  {}{}{}", stage_, repeat("█", filled), repeat("░", width - filled), tail);
  std::fflush(stderr);
  drawn_ = true;
}

}  // namespace supple
