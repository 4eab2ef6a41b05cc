// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/recipe_keys.h"

#include <algorithm>

namespace supple {
namespace {

// In Markdown, because docs/recipe.md shows them: `supple reference docs/recipe.md` writes them there.
constexpr RecipeKey table[] = {
    {"", "input", "the character, `.glb` or `.gltf`, with a skin; or, with `handles` in `[rig]`, a bare mesh",
     "required"},
    {"", "scale", "metres per unit of the input", "1"},
    {"", "clips", "names of the input's clips to use; `[]`: none", "all"},
    {"[rig]", "skinning", "`\"linear\"`, as glTF and engines do, or `\"dual_quaternion\"`", "`\"linear\"`"},
    {"[rig]", "handles",
     "what moves an `input` that is a bare mesh: points and bones, `.tgf`; bones with weights, `.json`; or an example "
     "of Complementary Dynamics, `.json`",
     "the input's own rig"},
    {"[rig]", "weights",
     "`.dmat`: a row for each vertex of the input, or of the tetrahedra of `[body]` `mesh`; a column for each handle",
     "those of `handles`, or bounded biharmonic ones"},
    {"[rig]", "motions", "files of motion of the handles, `.txt` or `.json`: clips, named after their files",
     "those of `handles`"},
    {"[rig]", "rate", "frames per second of motions that don't say it", "30"},
    {"[[wire]]", "name", "its name", "required"},
    {"[[wire]]", "handles",
     "names of two or more nodes of the input, in order along the curve; they needn't carry skin", "required"},
    {"[body]", "mesh", "tetrahedra of your own in place of ours: `.msh`, `.mesh`, `.veg`, `.node`/`.ele`", "none"},
    {"[body]", "materials",
     "whose: `\"mesh\"`, those of the mesh's regions where it has any (`.veg`), with their stiffness as it is; "
     "`\"recipe\"`, those of `[material]`",
     "`\"recipe\"` where `[material]` has `young`, `frequency`, `poisson` or `density`, else `\"mesh\"`"},
    {"[body]", "tets", "about how many tetrahedra", "16000"},
    {"[body]", "keep_separate", "parts that only come near each other don't grow together", "`true`"},
    {"[body]", "graded", "cells grow towards the inside: as many tetrahedra make a finer skin, and a coarser core",
     "`false`"},
    {"[body]", "exclude", "names of meshes that only follow the joints", "`[]`"},
    {"[bones]", "radius", "what lies this close to a bone as well, as a share of the body's diagonal, 0 to 0.5", "0"},
    {"[bones]", "soft", "names of joints whose bones hold nothing", "`[]`"},
    {"[bones]", "rigid", "names of joints on which all is hard", "the head, where it is found by its name and place"},
    {"[bones]", "find_hard_parts",
     "eyes, teeth, horns, hooves, props: by name, by meshes without a skin, by small separate pieces on one joint",
     "`true`"},
    {"[material]", "model",
     "`\"linear\"`, `\"corotational\"`, `\"stvk\"`, `\"neo_hookean\"`, `\"stable_neo_hookean\"`, `\"flesh\"`: soft at "
     "first and stiff when stretched",
     "`\"flesh\"`"},
    {"[material]", "young", "Young's modulus E, Pa", "from `frequency`"},
    {"[material]", "frequency",
     "in place of `young`, Hz: how often the flesh sways that gives way most: pushed by an acceleration a, a tenth of "
     "its mass yields by a/(2πf)² or more. That is unpainted flesh: paint and regions make parts softer or firmer than "
     "it, and where the whole then sways by 10 % more or less often, the first line of a report says so. So large and "
     "small characters look equally soft.",
     "as `feel` says"},
    {"[material]", "poisson", "Poisson's ratio, −1 < ν ≤ 0.4999", "0.45"},
    {"[material]", "density", "kg/m³", "1000"},
    {"[flesh]", "feel",
     "how soft, in a word: `\"subtle\"`, `\"natural\"`, `\"bouncy\"`, `\"jelly\"`: [looks](looks.md#feel)",
     "`\"natural\"`"},
    {"[flesh]", "amount",
     "how far flesh moves: a gain, 0 to 20, on top of what its feel says, or `\"5 %\"`: the share of the "
     "height that the skin moves by at most in the liveliest clip of a bake, which is then tried until it does",
     "1"},
    {"[flesh]", "limit",
     "`false`: violent moments of clips move flesh as far as they may: [looks](looks.md#how-far-it-moves)", "`true`"},
    {"[flesh]", "damping",
     "damping ratio at that frequency and at four times it, nearly so between: 0 rings for ever, 1 hardly overshoots",
     "as `feel` says"},
    {"[flesh]", "quality",
     "how near to the simulation of every vertex: `\"draft\"` (at most 45 coordinates, quickly built), `\"good\"` (120 "
     "to 200), `\"final\"` (200 to 320; both up to 400 in one basis where these would miss much of how flesh moves; "
     "`supple bake` then leaves every vertex free, as `--engine full` does, and at `\"good\"`, too, where that takes "
     "less "
     "time: characters with some seconds of clips and none of the keys that only a reduced body has)",
     "`\"good\"`"},
    {"[flesh]", "size",
     "coordinates of the reduced body, 1 to 400; 0: as many as the quality needs, in one basis that serves all poses "
     "and parts: `[[pose]]` then tells where the skin fits and what is learnt, and `[[local]]` nothing. A number gives "
     "each pose and each `[[local]]` a basis of its own, as the 2016 paper has it; so do `poses`, paint in poses and "
     "`quality = \"draft\"`",
     "0"},
    {"[flesh]", "poses",
     "at most so many poses get a reduced model of their own, the neutral one included: the recipe's `[[pose]]` tables "
     "first, then poses of the clips that are far from these and from each other. 0: all of the recipe's, none of the "
     "clips'. Between them bases, forces and materials are interpolated",
     "0"},
    {"[flesh]", "angle",
     "degrees. Poses of the clips are taken where they are far apart or where the flesh's modes differ from those of "
     "the nearest pose by more than this; and where the bases of a pose and of its neighbour differ by more, a pose is "
     "inserted halfway, up to `poses`. The angle θ is that of all directions together, cos² θ = mean of cos² θ_k. 0: "
     "never",
     "45"},
    {"[flesh]", "fit",
     "`true`: in every pose with a model of its own the tetrahedra are fitted to the skin (2016 paper, Eq. 3), so that "
     "none is turned inside out there; the difference is kept as that pose's correction",
     "`false`"},
    {"[flesh]", "directions",
     "`\"rotating\"`: bases turn with the limbs they belong to; `\"world\"`: they are interpolated as they point",
     "`\"rotating\"`"},
    {"[flesh]", "local",
     "`true`: bases for parts of the body (`[[local]]`, or found from the skeleton) instead of one for all of it. "
     "`false` beside `[[local]]` is refused",
     "`true` where the recipe has `[[local]]`, else `false`"},
    {"[flesh]", "contact",
     "`true`: where the clips put skin into skin, corrections of these poses push it out again, in every clip and in a "
     "game (needs linear skinning); and where poses have bases of their own, what touches in one stays as it touches, "
     "so "
     "that flesh doesn't sink into flesh",
     "`false`"},
    {"[flesh]", "friction",
     "with `--engine quasistatic`: Coulomb's coefficient of flesh against itself. Frames then follow from those before "
     "them, and are solved one after the other from the clip's start",
     "0"},
    {"[flesh]", "inertia",
     "`true`, with `--engine quasistatic`: flesh swings, in implicit time steps, instead of being at rest in every "
     "frame. Frames follow from those before them",
     "`false`"},
    {"[flesh]", "turns",
     "with `--engine quasistatic`: how flesh turns between bones, `\"skin\"`: by the weights of the skin around it, or "
     "`\"biharmonic\"`: by bounded biharmonic weights of its own, as the 2014 paper has it",
     "`\"skin\"`"},
    {"[[region]]", "joints", "names of joints", "required"},
    {"[[region]]", "softness", "divides E: 2 is twice as soft", "required"},
    {"[[collider]]", "shape", "`\"plane\"`, `\"sphere\"`, `\"box\"` or `\"capsule\"`; or", "one of"},
    {"[[collider]]", "mesh",
     "a file of a closed mesh, whose triangles look out; a cavity is a surface within that looks in. What is open or "
     "inside out is refused",
     "these two"},
    {"[[collider]]", "at",
     "a point of the plane, the centre, one end of the capsule's axis, or where the mesh's origin is", "`[0, 0, 0]`"},
    {"[[collider]]", "normal", "of a plane: the side that is free", "`[0, 1, 0]`"},
    {"[[collider]]", "size", "of a box: its edges along x, y and z", "required for one"},
    {"[[collider]]", "to", "of a capsule: the other end of its axis", "required for one"},
    {"[[collider]]", "radius", "of a sphere or capsule", "required for one"},
    {"[[collider]]", "scale", "of a mesh: metres per unit of its file", "1"},
    {"[[collider]]", "friction", "Coulomb's coefficient of flesh against it; as that of `[flesh]`", "0"},
    {"[[collider]]", "joint",
     "name of the joint that carries it from where it is while the skeleton rests: a hat, a bracelet, a chair on a "
     "root",
     "none: it stands still"},
    {"[[local]]", "name", "its name; names that differ in left and right only get equally many modes", "required"},
    {"[[local]]", "joints", "names of joints: the patch is where their bones are", "one of"},
    {"[[local]]", "points", "places, m, in the pose the character is bound in: `[[0, 1.6, 0.1]]`", "these three"},
    {"[[local]]", "segments", "pairs of places: `[[[0, 1, 0], [0, 1.5, 0]]]`", "is needed"},
    {"[[local]]", "modes", "how many modes, 1 to 400",
     "a share of `[flesh]` `size`, by flesh and how far it gives way"},
    {"[[paint]]", "quantity",
     "`\"softness\"` divides E; `\"young\"` (Pa), `\"poisson\"`, `\"density\"` (kg/m³) replace it; `\"fixity\"` above "
     "0.5 holds",
     "required"},
    {"[[paint]]", "attribute",
     "vertex attribute of the input: `\"color\"` is glTF's `COLOR_0`, others by their names (`\"COLOR_1\"`, "
     "`\"_SOFT\"`); meshes without it continue their neighbours",
     "one of"},
    {"[[paint]]", "file",
     "text, a number per vertex of the input's meshes that take part, in the order of the file; `nan` leaves one "
     "unpainted, `#` starts a comment",
     "these three"},
    {"[[paint]]", "tets", "text, a number per tetrahedron", "is needed"},
    {"[[paint]]", "channel", "of the attribute: `\"r\"`, `\"g\"`, `\"b\"`, `\"a\"`", "`\"r\"`"},
    {"[[paint]]", "range",
     "what paint 0 and paint 1 mean, `[at 0, at 1]`; softness and Young's modulus run geometrically in between",
     "the paint is the value"},
    {"[[paint]]", "smoothness", "length that is smoothed along the skin, as a share of the body's diagonal", "0.01"},
    {"[[paint]]", "pose",
     "a `[[pose]]` for which this is painted; poses without paint of their own have the general one, and materials are "
     "interpolated between poses (Eq. 36). Not for density and fixity.",
     "all poses"},
    {"[[pose]]", "name", "its name; without `clip`, a pose in the extras of a mesh of the input", "required"},
    {"[[pose]]", "clip, time", "a moment of a clip (of the input, of a motion, of keyframes or of a reach), s", ""},
    {"[[correction]]", "target", "name of a morph target, in any mesh", "required"},
    {"[[correction]]", "joint, rotation",
     "a joint, and how far it is turned from its rest in that pose, degrees about x, then y, then z, as in "
     "`[[keyframes]]`; or",
     ""},
    {"[[correction]]", "joints, rotations",
     "several of them, as lists: `[\"upper_arm.L\", \"forearm.L\"]`, `[[0, 0, 30], [0, 0, 90]]`; or", "one of"},
    {"[[correction]]", "clip, time", "a moment of a clip, s; `joint` or `joints` may say which joints it is about",
     "these three"},
    {"[[correction]]", "reach",
     "degrees: the target belongs to the surroundings of its pose alone and has faded where its joints together are "
     "that far away, whatever other corrections do; what the character shows there otherwise stays",
     "none: it is interpolated between its pose and others"},
    {"[[motion]]", "file", "`.glb` or `.gltf`: all of its clips, by names of joints; `.bvh`: its motion, retargeted",
     "required"},
    {"[[motion]]", "name", "of the clip; BVH only", "the file's name"},
    {"[[motion]]", "joint_map", "text, lines `joint of the motion = joint of the character`; BVH only",
     "by roles and names"},
    {"[[motion]]", "frames", "`[first, last]`, counted from 0; BVH only", "all"},
    {"[[motion]]", "level_floor",
     "take out a drift of the recording's floor, as suits of inertial sensors have; `false` for a motion over real "
     "steps of less than half a leg; BVH only",
     "`true`"},
    {"[[keyframes]]", "name", "of the clip", "required"},
    {"[[keyframes]]", "interpolation", "`\"step\"`, `\"linear\"`, `\"cubic\"`", "`\"linear\"`"},
    {"[[keyframes]]", "[[keyframes.key]]",
     "moments of the clip, each a table; of no clip may keys put a joint beyond 1e9 m or scale it more than 10,000 "
     "times",
     "at least one"},
    {"[[keyframes.key]]", "joint", "name of a joint", "required"},
    {"[[keyframes.key]]", "time", "s", "required"},
    {"[[keyframes.key]]", "rotation", "relative to the joint's rest, degrees about x, then y, then z", "one of"},
    {"[[keyframes.key]]", "translation", "relative to the joint's rest, m", "these three"},
    {"[[keyframes.key]]", "scale", "relative to the joint's rest", "is needed"},
    {"[[reach]]", "name", "of the clip", "required"},
    {"[[reach]]", "root, tip",
     "joints: those from the root to the one above the tip turn, so that the tip is where it should be", "required"},
    {"[[reach]]", "clip",
     "a clip that moves everything else: of the input (one in use), of a motion, of keyframes or of a reach before "
     "this one",
     "nothing else moves"},
    {"[[reach]]", "rate", "frames per second between the keys, at least; 1 to 1000. Each key is a frame", "30"},
    {"[[reach]]", "stiffness", "per joint from the root, from 0 (free) to 1 (doesn't turn); missing ones are 0",
     "all free"},
    {"[[reach]]", "pole",
     "a point (m) to which the middle joint bends; for two bones, such as an arm from shoulder to wrist, without "
     "`stiffness`",
     "as the limb bends already"},
    {"[[reach]]", "[[reach.key]]", "where the tip shall be when; straight in between", "at least one"},
    {"[[reach.key]]", "time", "s, ascending", "required"},
    {"[[reach.key]]", "target", "`[x, y, z]` in the world, m", "required"},
};

/// The last word of "[[keyframes.key]]" or of "[body]".
std::string_view word_of(std::string_view section) {
  const std::size_t begin = section.find_last_of("[.") + 1;
  return section.substr(begin, section.find(']', begin) - begin);
}

}  // namespace

std::span<const RecipeKey> recipe_keys() { return table; }

std::vector<std::string_view> recipe_keys_of(std::string_view section) {
  std::vector<std::string_view> names;
  for (const RecipeKey& key : table) {
    if (key.section != section) continue;
    for (std::string_view rest = key.names; !rest.empty();) {
      const std::size_t comma = std::min(rest.find(", "), rest.size());
      const std::string_view name = rest.substr(0, comma);
      names.push_back(name.starts_with('[') ? word_of(name) : name);
      rest.remove_prefix(std::min(rest.size(), comma + 2));
    }
  }
  if (!section.empty()) return names;
  for (const RecipeKey& key : table) {
    const bool at_the_top = !key.section.empty() && key.section.find('.') == std::string_view::npos;
    if (at_the_top && std::find(names.begin(), names.end(), word_of(key.section)) == names.end())
      names.push_back(word_of(key.section));
  }
  return names;
}

}  // namespace supple
