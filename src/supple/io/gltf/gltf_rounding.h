// SPDX-License-Identifier: Apache-2.0
// Numbers of a document rounded to multiples of powers of two, for files that are packed (meshopt_views.h): nobody sees
// the bits that are lost, and they are what doesn't compress.
//
//   positions, old morph targets   2^-16 of the mesh's extent (half a step: 0.8 in 100,000)
//   normals, tangents, colours     2^-9 (0.06 degrees)
//   texture coordinates            2^-14
//   skin weights                   2^-11; their sum stays one
//   rotations, scales              2^-16
//   translations                   2^-18 of the largest of their channel
// Only floats are rounded. What players need equal stays equal: vertices at one place, keys of one value.
#pragma once

#include "supple/io/gltf/gltf_document.h"

namespace supple {

Status round_numbers(GltfDocument& document);

}  // namespace supple
