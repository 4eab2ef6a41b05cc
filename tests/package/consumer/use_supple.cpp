// SPDX-License-Identifier: Apache-2.0
#include <supple/base/parallel.h>
#include <supple/mesh/box.h>

#include <iostream>

int main() {
  const supple::TetMesh mesh = supple::make_tet_box({1.0, 0.1, 0.1}, {4, 4, 4});
  supple::set_thread_count(2);
  const double count = supple::parallel_sum(static_cast<std::int64_t>(mesh.elements.size()), 16,
                                            [](auto begin, auto end) { return static_cast<double>(end - begin); });
  std::cout << count << " tetrahedra\n";
  return count == 384 ? 0 : 1;
}
