// SPDX-License-Identifier: Apache-2.0
// Few buffer views in place of many. Exporters give every array a view of its own; each costs JSON, and compresses
// alone. Here arrays of one kind (the positions of all meshes, the rotations of all clips …) are put one after the
// other into one view, equal ones once. The numbers stay as they are.
#pragma once

#include "supple/io/gltf/gltf_content.h"

namespace supple {

/// Leaves out views that nothing shows any more. A document whose extensions refer to views by themselves stays as it
/// is.
void gather_views(GltfContent& content);

}  // namespace supple
