// SPDX-License-Identifier: Apache-2.0
#include "supple/base/progress.h"

namespace supple {
namespace {

class SilentProgress final : public Progress {
 public:
  void stage(std::string_view) override {}
  void update(double) override {}
};

}  // namespace

Progress& Progress::silent() {
  static SilentProgress progress;
  return progress;
}

}  // namespace supple
