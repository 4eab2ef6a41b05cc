// SPDX-License-Identifier: Apache-2.0
// A bar on the last line of a terminal, drawn at most 20 times a second; nothing in a pipe. It clears itself.
#pragma once

#include "supple/base/progress.h"

#include <chrono>
#include <string>

namespace supple {

class ProgressBar : public Progress {
 public:
  ProgressBar();
  ~ProgressBar() override { clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void hide() { visible_ = false; }
  /// Before anything else is printed.
  void clear();

  void stage(std::string_view name) override;
  void update(double fraction) override;
  bool cancelled() const override;

 private:
  void draw();

  bool visible_ = false;
  bool drawn_ = false;
  std::string stage_;
  double fraction_ = 0;
  std::chrono::steady_clock::time_point stage_start_;
  std::chrono::steady_clock::time_point last_draw_;
};

}  // namespace supple
