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
constexpr std::chrono::milliseconds redraw_interval{100};
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

ProgressBar::ProgressBar() : visible_(is_terminal()), stage_start_(Clock::now()) {
  if (visible_) ticker_ = std::thread([this] { tick(); });
}

ProgressBar::~ProgressBar() {
  clear();
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  if (ticker_.joinable()) ticker_.join();
}

void ProgressBar::hide() {
  clear();
  const std::lock_guard lock(mutex_);
  visible_ = false;
}

void ProgressBar::clear() {
  const std::lock_guard lock(mutex_);
  working_ = false;
  wipe();
}

void ProgressBar::wipe() {
  if (!drawn_) return;
  std::fputs("\r\x1b[2K", stderr);
  std::fflush(stderr);
  drawn_ = false;
}

void ProgressBar::stage(std::string_view name) {
  const std::lock_guard lock(mutex_);
  stage_ = name;
  fraction_ = 0;
  stage_start_ = Clock::now();
  working_ = true;
}

void ProgressBar::update(double fraction) {
  if (!ticker_.joinable()) return;
  const std::lock_guard lock(mutex_);
  fraction_ = std::clamp(fraction, 0.0, 1.0);
}

bool ProgressBar::cancelled() const { return interrupted(); }

void ProgressBar::tick() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, redraw_interval, [this] { return over_; }))
    if (visible_ && working_ && Clock::now() - stage_start_ >= patience) draw();
}

void ProgressBar::draw() {
  const double elapsed = std::chrono::duration<double>(Clock::now() - stage_start_).count();
  const bool known = fraction_ > 0;
  const std::string tail =
      known ? fmt::format(" {:3.0f} %  {:.0f} s", 100 * fraction_, elapsed) : fmt::format("  {:.0f} s", elapsed);
  const int room = terminal_width() - static_cast<int>(stage_.size() + tail.size()) - 4;
  const int width = std::clamp(room, 0, 40);
  const int block = std::min(width, 6), way = std::max(1, width - block);
  const int step = static_cast<int>(elapsed * 10) % (2 * way);
  const int before = known ? 0 : std::min(step, 2 * way - step);
  const int filled = known ? static_cast<int>(fraction_ * width) : block;
  fmt::print(stderr, "\r\x1b[2K{}  {}{}{}{}", stage_, repeat("░", before), repeat("█", filled),
             repeat("░", std::max(0, width - before - filled)), tail);
  std::fflush(stderr);
  drawn_ = true;
}

}  // namespace supple
