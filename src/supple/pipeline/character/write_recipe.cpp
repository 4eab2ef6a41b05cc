// SPDX-License-Identifier: Apache-2.0
// write_recipe(): every key with the comment that explains it.
#include "supple/pipeline/character/recipe.h"

#include <fmt/format.h>

#include <algorithm>

namespace supple {
namespace {

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

/// A TOML string; names of joints and files may hold anything.
std::string toml_text(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      result += {'\\', c};
    else if (is_control(c))
      result += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
    else
      result += c;
  }
  return result + "\"";
}

/// The shortest text that reads back as the same number.
std::string number(double value) { return fmt::format("{}", value); }

constexpr std::size_t columns = 100;

/// Broken over lines where one is too short.
std::string list(const std::vector<std::string>& names) {
  std::string result = "[", line;
  bool broken = false;
  for (std::size_t k = 0; k < names.size(); ++k) {
    const std::string entry = toml_text(names[k]) + (k + 1 < names.size() ? ", " : "");
    if (line.size() + entry.size() > columns - 12 && !line.empty()) {
      line.pop_back();
      result += (broken ? "" : "\n  ") + line + "\n  ";
      broken = true;
      line.clear();
    }
    line += entry;
  }
  return result + line + (broken ? "\n]" : "]");
}

std::string vector(const Vec3& v) { return fmt::format("[{}, {}, {}]", v[0], v[1], v[2]); }

const char* word(bool value) { return value ? "true" : "false"; }

class RecipeWriter {
 public:
  explicit RecipeWriter(const RecipeNotes& notes) : notes_(notes) {}

  void section(const std::string& title) {
    text_ += fmt::format("\n{}\n", title);
    section_ = title.substr(title.find_first_not_of('['), title.find(']') - title.find_first_not_of('[')) + ".";
  }
  /// Lines of the comment stay lines, and are broken where they are too long.
  void comment(std::string_view words) {
    for (std::size_t start = 0; start < words.size();) {
      std::size_t end = std::min(words.find('\n', start), words.size());
      if (end - start > columns) {
        const std::size_t blank = words.rfind(' ', start + columns);
        if (blank != words.npos && blank > start) end = blank;
      }
      std::string line(words.substr(start, end - start));
      std::replace_if(line.begin(), line.end(), is_control, '?');  // TOML has no way to write them in a comment
      text_ += fmt::format("# {}\n", line);
      start = end + 1;
    }
  }
  void key(const std::string& name, const std::string& value, std::string_view words = {}) {
    if (!words.empty()) comment(words);
    note(section_ + name);
    text_ += fmt::format("{} = {}\n", name, value);
  }
  void note(const std::string& place) {
    if (const auto found = notes_.find(place); found != notes_.end()) comment(found->second);
  }
  void blank() { text_ += "\n"; }
  std::string take() { return std::move(text_); }

 private:
  const RecipeNotes& notes_;
  std::string section_;
  std::string text_;
};

void write_head(RecipeWriter& out, const Recipe& recipe) {
  out.note("");
  out.comment("Paths are relative to this file; all keys are explained in docs/recipe.md.");
  out.key("input", toml_text(recipe.input));
  out.blank();
  out.key("scale", number(recipe.scale), "Metres per unit of the input; glTF says 1.");
  if (recipe.clips) {
    out.blank();
    out.key("clips", list(*recipe.clips), "Clips of the input to use; without this line: all.");
  }
  if (recipe.corrections && recipe.corrections->empty())
    out.key("correction", "[]", "No morph target is taken as a correction, whatever its name.");
}

void write_handles(RecipeWriter& out, const RecipeHandles& handles) {
  out.key("handles", toml_text(handles.file), "Points or bones that move the input, which is a bare mesh.");
  if (!handles.weights.empty())
    out.key("weights", toml_text(handles.weights), "How much of each vertex of the input hangs on each handle.");
  if (!handles.motions.empty()) {
    out.key("motions", list(handles.motions), "Clips, each named after its file.");
    out.key("rate", number(handles.rate), "Their frames per second, where the files don't say.");
  }
}

void write_body(RecipeWriter& out, const Recipe& recipe) {
  out.section("[body]");
  if (!recipe.body_mesh.empty()) {
    out.key(
        "mesh", toml_text(recipe.body_mesh),
        "Tetrahedra around the input, in its units and place; \"tets\", \"keep_separate\" and \"graded\" aren't used.");
    out.key("materials", recipe.file_materials ? "\"mesh\"" : "\"recipe\"",
            "Whose materials: those of the mesh's regions, where it has any, or those of [material].");
  }
  out.key("tets", std::to_string(recipe.tets), "About how many tetrahedra to fill the character with.");
  out.key("keep_separate", word(recipe.keep_separate),
          "Parts that only come near each other (thighs, fingers) don't grow together.");
  out.key("graded", word(recipe.graded),
          "Cells grow towards the inside, so that as many tetrahedra make a finer skin.");
  out.key("exclude", list(recipe.exclude), "Meshes that only follow the joints, as they do without us.");
  out.section("[rig]");
  if (!recipe.handles.file.empty()) write_handles(out, recipe.handles);
  out.key("skinning", recipe.dual_quaternions ? "\"dual_quaternion\"" : "\"linear\"",
          "How joints bend the skin: \"linear\" as glTF and engines do, or \"dual_quaternion\".");
  for (const RecipeWire& wire : recipe.wires) {
    out.section("[[wire]]");
    if (&wire == recipe.wires.data())
      out.comment(
          "A curve through joints that moves the skin in place of skinning; the skin's weights say which curve.");
    out.key("name", toml_text(wire.name));
    out.key("handles", list(wire.handles));
  }
  out.section("[bones]");
  out.key("radius", number(recipe.bone_radius),
          "What lies this close to a bone is held as well, as a share of the body's diagonal.");
  out.key("soft", list(recipe.soft), "Joints whose bones hold nothing, such as those of a trunk or a fat belly.");
  if (recipe.rigid)
    out.key("rigid", list(*recipe.rigid),
            "Joints on which all is hard; without this line the head, where it is found.");
  out.key("find_hard_parts", word(recipe.find_hard_parts),
          "Eyes, teeth, horns, hooves and props stay rigid: found by their names, by meshes without a skin,\n"
          "and by small separate pieces that hang on one joint.");
}

void write_material(RecipeWriter& out, const RecipeMaterial& material) {
  out.section("[material]");
  out.key("model", toml_text(to_string(material.model)),
          "linear, corotational, stvk, neo_hookean, stable_neo_hookean, which survives any deformation, or flesh,\n"
          "which also stiffens as it stretches.");
  if (material.young)
    out.key("young", number(*material.young),
            "Young's modulus in pascals: fat 5e3, flesh 2e4 to 1e5, gristle 1e6; or \"frequency\" in its place.");
  else if (material.frequency)
    out.key("frequency", number(*material.frequency),
            "How soft: the flesh that gives way most sways so often a second, in place of what the feel says.\n"
            "Or in its place \"young\", Young's modulus in pascals: fat 5e3, flesh 2e4 to 1e5, gristle 1e6.");
  out.key("poisson", number(material.poisson), "Poisson's ratio, below 0.5: how well the volume is kept.");
  out.key("density", number(material.density), "In kg/m³.");
}

void write_flesh(RecipeWriter& out, const Recipe& recipe) {
  out.section("[flesh]");
  out.key("feel", toml_text(to_string(recipe.flesh.feel)),
          "How soft: \"subtle\", \"natural\", \"bouncy\" or \"jelly\". Finer: \"frequency\" in [material], and "
          "\"damping\".");
  if (recipe.flesh.share > 0 || recipe.flesh.amount != 1)
    out.key("amount",
            recipe.flesh.share > 0 ? toml_text(fmt::format("{:g} %", 100 * recipe.flesh.share))
                                   : number(recipe.flesh.amount),
            "How far flesh moves: a gain, or the share of the height that it moves by at most in the liveliest clip.");
  if (!recipe.flesh.limit)
    out.key("limit", word(recipe.flesh.limit), "Whether violent moments of clips are limited to what flesh can bear.");
  if (recipe.flesh.damping)
    out.key("damping", number(*recipe.flesh.damping),
            "Damping ratio: how fast swaying dies away; 0 rings for ever, 1 hardly overshoots.");
  out.key(
      "quality", toml_text(to_string(recipe.flesh.quality)),
      "How near to the simulation of every vertex: \"draft\" is quickly built, \"good\" is for games, \"final\" takes\n"
      "minutes, and is baked with every vertex free; so is \"good\" where the clips are short.");
  out.key(
      "size", std::to_string(recipe.flesh.size),
      "Coordinates of the reduced body: more see finer motion and cost more time. 0: as many as the quality needs.");
  out.key(
      "poses", std::to_string(recipe.flesh.poses),
      "So many poses at most, the neutral one included, get a reduced model of their own: those below, [[pose]], then\n"
      "poses of the clips that are far apart. 0: all of those below. Between them all is interpolated.");
  out.key(
      "angle", number(recipe.flesh.angle),
      "In degrees: clips' poses in which flesh moves so much differently are taken too, and where bases of neighbours\n"
      "differ more than this a pose is inserted between them, up to the number above. 0: never.");
  out.key("fit", word(recipe.flesh.fit),
          "In every one of these poses the tetrahedra are fitted to the skin, so that none is turned inside out.");
  out.key("directions", recipe.flesh.directions == BasisDirections::world ? "\"world\"" : "\"rotating\"",
          "\"rotating\": bases turn with the limbs they belong to; \"world\": they are interpolated as they point.");
  out.key("local", recipe.flesh.local ? "true" : "false",
          "Bases for parts of the body, see [[local]], instead of one for all of it.");
  out.key("contact", recipe.flesh.contact ? "true" : "false",
          "Where clips put skin into skin it is pushed out again; needs some tens of seconds.");
  out.key("friction", number(recipe.flesh.friction),
          "With --engine quasistatic: Coulomb's coefficient of flesh against itself.");
  out.key("inertia", word(recipe.flesh.inertia),
          "With --engine quasistatic: flesh swings instead of being at rest in every frame.");
  out.key("turns", recipe.flesh.biharmonic ? "\"biharmonic\"" : "\"skin\"",
          "With --engine quasistatic: flesh turns by the skin's weights, or by bounded biharmonic ones of its own.");
  for (const RecipeRegion& region : recipe.regions) {
    out.section("[[region]]");
    out.key("joints", list(region.joints));
    out.key("softness", number(region.softness), "What hangs on these joints is so many times softer.");
  }
}

void write_colliders(RecipeWriter& out, const Recipe& recipe) {
  constexpr const char* names[] = {"\"plane\"", "\"sphere\"", "\"box\"", "\"capsule\""};
  for (const Collider& collider : recipe.colliders) {
    out.section("[[collider]]");
    if (!collider.joint.empty()) out.key("joint", toml_text(collider.joint));
    if (collider.friction > 0) out.key("friction", number(collider.friction));
    if (collider.shape == Collider::Shape::mesh) {
      out.key("mesh", toml_text(collider.mesh));
      out.key("at", vector(collider.at));
      out.key("scale", number(collider.scale));
      continue;
    }
    out.key("shape", names[static_cast<int>(collider.shape)]);
    out.key("at", vector(collider.at));
    if (collider.shape == Collider::Shape::plane) out.key("normal", vector(collider.normal));
    if (collider.shape == Collider::Shape::box) out.key("size", vector(collider.size));
    if (collider.shape == Collider::Shape::capsule) out.key("to", vector(collider.to));
    if (collider.shape == Collider::Shape::sphere || collider.shape == Collider::Shape::capsule)
      out.key("radius", number(collider.radius));
  }
}

void write_locals(RecipeWriter& out, const Recipe& recipe) {
  out.blank();
  out.comment(
      "Parts of the body with modes of their own, each fading into its neighbours. Without any, they are\n"
      "found from the skeleton: body, head, limbs. Where all say how many \"modes\", that is the flesh's size.");
  if (recipe.locals.empty()) out.comment("[[local]]\nname = \"head\"\njoints = [\"neck\", \"head\"]\nmodes = 20");
  for (const RecipeLocal& local : recipe.locals) {
    out.section("[[local]]");
    out.key("name", toml_text(local.name));
    if (!local.joints.empty()) out.key("joints", list(local.joints));
    std::vector<std::string> places;
    for (const Vec3& point : local.points) places.push_back(vector(point));
    if (!places.empty()) out.key("points", fmt::format("[{}]", fmt::join(places, ", ")));
    places.clear();
    for (const auto& [from, to] : local.segments) places.push_back(fmt::format("[{}, {}]", vector(from), vector(to)));
    if (!places.empty()) out.key("segments", fmt::format("[{}]", fmt::join(places, ", ")));
    if (local.modes > 0) out.key("modes", std::to_string(local.modes));
  }
}

void write_paint(RecipeWriter& out, const RecipePaint& paint) {
  out.section("[[paint]]");
  out.key("quantity", toml_text(paint_quantity_names[to_size(paint.quantity)]));
  if (!paint.attribute.empty()) {
    out.key("attribute", toml_text(paint.attribute));
    out.key("channel", toml_text(std::string_view("rgba").substr(to_size(paint.channel), 1)));
  }
  if (!paint.file.empty()) out.key("file", toml_text(paint.file), "A number for each vertex of the input.");
  if (!paint.tets.empty()) out.key("tets", toml_text(paint.tets), "A number for each tetrahedron.");
  if (!paint.pose.empty()) out.key("pose", toml_text(paint.pose));
  if (paint.range)
    out.key("range", fmt::format("[{}, {}]", (*paint.range)[0], (*paint.range)[1]), "What paint 0 and paint 1 mean.");
  if (paint.tets.empty())
    out.key("smoothness", number(paint.smoothness), "Smoothed over this share of the body's diagonal.");
}

void write_keyframes(RecipeWriter& out, const RecipeKeyframes& clip) {
  out.section("[[keyframes]]");
  out.key("name", toml_text(clip.name));
  constexpr std::string_view kinds[] = {"step", "linear", "cubic"};
  out.key("interpolation", toml_text(kinds[to_size(clip.interpolation)]));
  for (const Keyframe& key : clip.keys) {
    out.section("[[keyframes.key]]");
    out.key("joint", toml_text(key.joint));
    out.key("time", number(key.time));
    if (key.rotation_degrees) out.key("rotation", vector(*key.rotation_degrees));
    if (key.translation) out.key("translation", vector(*key.translation));
    if (key.scale) out.key("scale", vector(*key.scale));
  }
}

void write_reach(RecipeWriter& out, const RecipeReach& reach) {
  out.section("[[reach]]");
  out.key("name", toml_text(reach.name));
  out.key("root", toml_text(reach.root));
  out.key("tip", toml_text(reach.tip), "Turned from root to tip so that the tip is at the keys' targets, in metres.");
  if (!reach.clip.empty()) out.key("clip", toml_text(reach.clip), "Moves all other joints.");
  out.key("rate", number(reach.rate), "Frames per second.");
  if (!reach.stiffness.empty())
    out.key("stiffness", fmt::format("[{}]", fmt::join(reach.stiffness, ", ")), "From the root: 1 doesn't turn.");
  if (reach.pole) out.key("pole", vector(*reach.pole), "The middle joint bends to there.");
  for (const RecipeReachKey& key : reach.keys) {
    out.section("[[reach.key]]");
    out.key("time", number(key.time));
    out.key("target", vector(key.target));
  }
}

void write_correction(RecipeWriter& out, const RecipeCorrection& correction) {
  out.section("[[correction]]");
  out.key("target", toml_text(correction.target), "A morph target, and the pose that it was sculpted for.");
  if (correction.joints.size() == 1) out.key("joint", toml_text(correction.joints.front()));
  if (correction.joints.size() > 1) out.key("joints", list(correction.joints));
  std::vector<std::string> turns;
  for (const Vec3& rotation : correction.rotations) turns.push_back(vector(rotation));
  if (turns.size() == 1) out.key("rotation", turns.front(), "In degrees about x, then y, then z.");
  if (turns.size() > 1) out.key("rotations", fmt::format("[{}]", fmt::join(turns, ", ")));
  if (!correction.clip.empty()) {
    out.key("clip", toml_text(correction.clip));
    out.key("time", number(correction.time), "In seconds.");
  }
  if (correction.reach > 0) out.key("reach", number(correction.reach), "Degrees from there at which it has faded.");
}

void write_motion(RecipeWriter& out, const RecipeMotion& motion) {
  out.section("[[motion]]");
  out.key("file", toml_text(motion.file));
  if (!motion.name.empty()) out.key("name", toml_text(motion.name));
  if (!motion.joint_map.empty()) out.key("joint_map", toml_text(motion.joint_map));
  if (!motion.level_floor) out.key("level_floor", "false");
  if (motion.frames) out.key("frames", fmt::format("[{}, {}]", (*motion.frames)[0], (*motion.frames)[1]));
}

}  // namespace

std::string write_recipe(const Recipe& recipe, const RecipeNotes& notes) {
  RecipeWriter out(notes);
  write_head(out, recipe);
  write_body(out, recipe);
  write_material(out, recipe.material);
  write_flesh(out, recipe);
  write_colliders(out, recipe);
  write_locals(out, recipe);
  if (recipe.paints.empty() && notes.contains("paint")) {
    out.blank();
    out.note("paint");
  }
  for (const RecipePaint& paint : recipe.paints) write_paint(out, paint);
  if (!recipe.poses.empty()) {
    out.blank();
    out.comment("Example poses: rest shapes, modes and materials are made in these and interpolated in between.");
    out.note("pose");
  }
  for (const RecipePose& pose : recipe.poses) {
    out.section("[[pose]]");
    out.key("name", toml_text(pose.name));
    if (pose.clip.empty()) continue;
    out.key("clip", toml_text(pose.clip));
    out.key("time", number(pose.time), "In seconds.");
  }
  if (recipe.corrections)
    for (const RecipeCorrection& correction : *recipe.corrections) write_correction(out, correction);
  for (const RecipeMotion& motion : recipe.motions) write_motion(out, motion);
  for (const RecipeKeyframes& clip : recipe.keyframes) write_keyframes(out, clip);
  for (const RecipeReach& reach : recipe.reaches) write_reach(out, reach);
  return out.take();
}

}  // namespace supple
