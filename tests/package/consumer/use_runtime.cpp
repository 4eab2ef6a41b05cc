// SPDX-License-Identifier: Apache-2.0
#include <supple/base/result.h>

#include <iostream>

int main() {
  const supple::Status status = supple::input_error("the installed runtime links and runs");
  std::cout << status.error().message << '\n';
  return status.ok() ? 1 : 0;
}
