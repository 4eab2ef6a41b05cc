// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "supple/base/progress.h"

#include <cstddef>
#include <mutex>
#include <vector>

namespace supple {

/// Progress of works that are done side by side, as clips are simulated: the mean of their shares.
class SharedProgress {
 public:
  SharedProgress(Progress& progress, std::size_t count) : progress_(progress), shares_(count, 0.0) {}

  /// What one of the works is told with.
  class Part final : public Progress {
   public:
    Part(SharedProgress& whole, std::size_t work) : whole_(whole), work_(work) {}
    void stage(std::string_view /*name*/) override {}
    void update(double fraction) override { whole_.update(work_, fraction); }
    bool cancelled() const override { return whole_.cancelled(); }

   private:
    SharedProgress& whole_;
    std::size_t work_;
  };

 private:
  void update(std::size_t work, double fraction) {
    const std::lock_guard lock(mutex_);
    sum_ += fraction - shares_[work];
    shares_[work] = fraction;
    progress_.update(sum_ / static_cast<double>(shares_.size()));
  }
  bool cancelled() {
    const std::lock_guard lock(mutex_);
    return progress_.cancelled();
  }

  std::mutex mutex_;
  Progress& progress_;
  std::vector<double> shares_;
  double sum_ = 0;
};

}  // namespace supple
