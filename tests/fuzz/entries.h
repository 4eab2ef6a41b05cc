// SPDX-License-Identifier: Apache-2.0
// One entry per reader, shared by the libFuzzer targets and by the replay of their corpora in the tests. Each parses
// the bytes; what loads must keep the promises of load_mesh and survive being written and read again. A broken promise
// aborts.
#pragma once

#include <string_view>

namespace supple::fuzz {

void veg(std::string_view bytes);
void gmsh(std::string_view bytes);
void medit(std::string_view bytes);
void tetgen(std::string_view bytes);  ///< .node and .ele in one, separated by a line "===="
void obj(std::string_view bytes);
void off(std::string_view bytes);
void stl(std::string_view bytes);
void ply(std::string_view bytes);
void gltf(std::string_view bytes);
void vertex_list(std::string_view bytes);
void sketch(std::string_view bytes);
void subspace_archive(std::string_view bytes);   ///< once as it is, once with a checksum that fits
void character_archive(std::string_view bytes);  ///< likewise
void full_archive(std::string_view bytes);
void quasistatic_archive(std::string_view bytes);
void domain_archive(std::string_view bytes);
void bvh(std::string_view bytes);
void mdd(std::string_view bytes);
void tgf(std::string_view bytes);
void dmat(std::string_view bytes);
void handle_motion(std::string_view bytes);  ///< of two bones, and of two points
void handle_json(std::string_view bytes);    ///< as a rig, and as motion of one bone
void recipe(std::string_view bytes);         ///< what is read is written, and read again
void plant_recipe(std::string_view bytes);   ///< likewise
void scene(std::string_view bytes);          ///< to be run, and to be built

using Entry = void (*)(std::string_view);
struct Target {
  const char* name;
  Entry entry;
};
inline constexpr Target targets[] = {{"veg", veg},
                                     {"gmsh", gmsh},
                                     {"medit", medit},
                                     {"tetgen", tetgen},
                                     {"obj", obj},
                                     {"off", off},
                                     {"stl", stl},
                                     {"ply", ply},
                                     {"vertex_list", vertex_list},
                                     {"sketch", sketch},
                                     {"subspace_archive", subspace_archive},
                                     {"character_archive", character_archive},
                                     {"full_archive", full_archive},
                                     {"quasistatic_archive", quasistatic_archive},
                                     {"domain_archive", domain_archive},
                                     {"gltf", gltf},
                                     {"bvh", bvh},
                                     {"mdd", mdd},
                                     {"tgf", tgf},
                                     {"dmat", dmat},
                                     {"handle_motion", handle_motion},
                                     {"handle_json", handle_json},
                                     {"recipe", recipe},
                                     {"plant_recipe", plant_recipe},
                                     {"scene", scene}};

}  // namespace supple::fuzz
