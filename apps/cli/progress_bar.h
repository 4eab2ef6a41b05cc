// SPDX-License-Identifier: Apache-2.0
// A bar on the last line of a terminal; nothing in a pipe. It clears itself. A thread of its own draws it a few times a
// second, so that it moves however long a loop looks at nothing: where nobody tells how much is done, a block runs to
// and fro beside the seconds.
#pragma once

#include "supple/base/progress.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace supple {

class ProgressBar : public Progress {
 public:
  ProgressBar();
  ~ProgressBar() override;
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void hide();
  /// Before anything else is printed. It shows again from the next stage on.
  void clear();

  void stage(std::string_view name) override;
  void update(double fraction) override;
  bool cancelled() const override;

 private:
  void tick();
  void draw();
  void wipe();

  bool visible_ = false;
  bool drawn_ = false, over_ = false, working_ = false;  ///< guarded, as is all below
  std::string stage_;
  double fraction_ = 0;
  std::chrono::steady_clock::time_point stage_start_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread ticker_;
};

}  // namespace supple
