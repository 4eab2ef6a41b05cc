// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/soft_character.h"

#include "supple/asset/character_archive.h"
#include "supple/base/clock.h"
#include "supple/offline/stage_archives.h"

#include <algorithm>

namespace supple {
namespace {

struct ReadCharacter {
  RecipeCharacter prepared;
  CharacterRig rig;
};

Result<ReadCharacter> read(const Recipe& recipe, const std::filesystem::path& folder) {
  Result<RecipeCharacter> prepared = prepare_character(recipe, folder);
  SUPPLE_RETURN_IF_ERROR(prepared);
  Result<CharacterRig> rig = recipe_rig(recipe, *prepared);
  SUPPLE_RETURN_IF_ERROR(rig);
  return ReadCharacter{std::move(*prepared), std::move(*rig)};
}

std::vector<PoseFacts> pose_facts(const ReducedBody& reduced) {
  std::vector<PoseFacts> facts;
  for (std::size_t i = 0; i < reduced.poses.size(); ++i) {
    const VecX& angles = reduced.alignment.angles[i];
    PoseFacts& fact = facts.emplace_back();
    fact = {.name = reduced.pose_names[i],
            .parent = reduced.alignment.parent[i],
            .angle = subspace_angle(angles),
            .largest_angle = angles.size() > 0 ? angles.maxCoeff() : 0};
    if (i == 0 || i > reduced.fits.size()) continue;
    const FitReport& fit = reduced.fits[i - 1];
    fact.inverted_before = fit.inverted_before;
    fact.inverted = fit.inverted;
    fact.fit_error = fit.mean_error;
  }
  return facts;
}

CharacterAsset asset_of(const Recipe& recipe, const ReducedBody& reduced) {
  CharacterAsset asset;
  asset.name = std::filesystem::path(recipe.input).stem().string();
  asset.model = reduced.model;
  asset.flesh_frequency = reduced.flesh_frequency;
  asset.facts = {.tets = static_cast<Index>(reduced.mesh.elements.size()),
                 .vertices = static_cast<Index>(reduced.mesh.vertices.size()),
                 .held_vertices = static_cast<Index>(reduced.fixed.size()),
                 .young = reduced.young,
                 .elastic_error = reduced.elastic_error,
                 .posed_error = reduced.posed_error,
                 .inertial_error = reduced.inertial_error,
                 .frequencies = reduced.frequencies,
                 .warnings = reduced.warnings,
                 .poses = pose_facts(reduced)};
  return asset;
}

/// What a game moves the asset with. Moments of clips are poses of the model, but nobody has corrected them.
Result<std::shared_ptr<const CharacterDrive>> recipe_drive(const Recipe& recipe, const RecipeCharacter& prepared,
                                                           const CharacterRig& rig) {
  std::vector<NamedPose> poses;
  for (std::size_t k = 0; k < prepared.poses.size(); ++k)
    if (k < recipe.poses.size() && recipe.poses[k].clip.empty())
      poses.push_back({prepared.poses[k].name, prepared.poses[k].locals, prepared.poses[k].corrected});
  return make_character_drive(prepared.character, rig, poses, recipe.scale);
}

Result<CharacterAsset> decode(const std::string& bytes) {
  const Result<Archive> archive = Archive::parse(std::as_bytes(std::span(bytes)), "the character");
  SUPPLE_RETURN_IF_ERROR(archive);
  return decode_character(*archive);
}

// ---- what an asset is made from -------------------------------------------------------------------------------------

void add(ContentHash& content, const Transform& t) {
  for (const double value : t.translation) content.add(value);
  for (const double value : t.rotation.coeffs()) content.add(value);
  for (const double value : t.scale) content.add(value);
}

void add(ContentHash& content, const Skeleton& skeleton) {
  for (const Joint& joint : skeleton.joints) {
    content.add(std::string_view(joint.name)).add(joint.parent).add(joint.matrix.has_value());
    add(content, joint.rest);
    if (joint.matrix) content.add(MatX(joint.matrix->matrix()));
  }
}

void add(ContentHash& content, const Clip& clip) {
  content.add(std::string_view(clip.name)).add(clip.duration).add(clip.channels.size());
  for (const Channel& channel : clip.channels) {
    content.add(channel.joint).add(channel.target).add(channel.interpolation).add(channel.width);
    content.add(channel.times).add(channel.values);
  }
}

/// What patches read of the skin: which joints hold it.
void add(ContentHash& content, const RawCharacter& character) {
  add(content, character.skeleton);
  content.add(character.clips.size());
  for (const Clip& clip : character.clips) add(content, clip);
  content.add(character.skins.size());
  for (const Skin& skin : character.skins) content.add(skin.joints);
  for (const CharacterMesh& mesh : character.meshes) {
    content.add(std::string_view(mesh.name)).add(mesh.node).add(mesh.skin);
    content.add(mesh.weights.first).add(mesh.weights.joint).add(mesh.weights.weight);
  }
}

void add(ContentHash& content, const RecipeBody& body) {
  add_content(content, body.body.mesh);
  add_content(content, body.body.skin);
  add_content(content, std::span(&body.base, 1));
  content.add(body.body.embedding.vertices).add(body.body.embedding.weights);
  content.add(body.body.carry.vertex).add(body.body.carry.weight);
  content.add(body.body.fixed_vertices).add(body.body.hard).add(body.body.bones.size());
  for (const BoneSegment& bone : body.body.bones) {
    content.add(bone.joint);
    for (const Vec3& end : {bone.from, bone.to})
      for (const double x : end) content.add(x);
  }
  for (const auto& [quantity, paint] : body.pose_paints) content.add(quantity).add(paint.values);
}

/// Of the recipe only what hasn't gone into the character or its body. Damping is no part of the model.
void add(ContentHash& content, const Recipe& recipe) {
  const auto& [size, damping, poses, angle, fit, directions, local, contact] = recipe.flesh;
  content.add(size).add(poses).add(angle).add(fit).add(directions).add(local).add(contact);
  const auto& [model, young, frequency, poisson, density] = recipe.material;
  content.add(model).add(young.has_value()).add(frequency);
  content.add(std::any_of(recipe.paints.begin(), recipe.paints.end(),
                          [](const RecipePaint& paint) { return paint.quantity == PaintQuantity::young; }));
  content.add(recipe.locals.size());
  for (const RecipeLocal& patch : recipe.locals) {
    content.add(std::string_view(patch.name)).add(patch.joints).add(patch.points).add(patch.segments);
    content.add(patch.modes);
  }
}

/// None where the rig can't be told by its data.
std::optional<ContentHash> content_of(const Recipe& recipe, const ReadCharacter& read, const RecipeBody& body) {
  ContentHash content;
  if (!add_content(content, *read.rig.rig())) return {};
  add(content, read.prepared.character);
  for (const RecipePoseState& pose : read.prepared.poses) {
    content.add(std::string_view(pose.name)).add(pose.corrected);
    for (const Transform& local : pose.locals) add(content, local);
  }
  add(content, body);
  add(content, recipe);
  content.add(std::string_view(recipe.input));
  return content;
}

Result<std::string> build(const Recipe& recipe, const ReadCharacter& read, const RecipeBody& body, Progress& progress,
                          StageStore& store) {
  const Result<ReducedBody> reduced = reduce_character(recipe, read.prepared, read.rig, body, progress, store);
  SUPPLE_RETURN_IF_ERROR(reduced);
  return encode_character(asset_of(recipe, *reduced));
}

}  // namespace

Result<SoftCharacter> make_soft_character(const Recipe& recipe, const std::filesystem::path& folder, Progress& progress,
                                          StageStore& store) {
  BuildSeconds seconds;
  auto start = Clock::now();
  progress.stage("reading the character");
  Result<ReadCharacter> character = read(recipe, folder);
  SUPPLE_RETURN_IF_ERROR(character);
  seconds.read = seconds_since(start);

  start = Clock::now();
  const Result<RecipeBody> body = embed_recipe(recipe, folder, character->prepared, character->rig, progress, store);
  SUPPLE_RETURN_IF_ERROR(body);
  seconds.embed = seconds_since(start);

  start = Clock::now();
  const std::optional<ContentHash> content = content_of(recipe, *character, *body);
  const auto make = [&] { return build(recipe, *character, *body, progress, store); };
  const auto whole = [](const std::string& bytes) -> Result<std::string> {
    const Result<CharacterAsset> asset = decode(bytes);
    SUPPLE_RETURN_IF_ERROR(asset);
    return bytes;
  };
  const Result<std::string> bytes =
      content ? find_or_make(
                    store, "character", *content, make, [](const std::string& made) { return made; }, whole)
              : make();
  SUPPLE_RETURN_IF_ERROR(bytes);
  Result<CharacterAsset> asset = decode(*bytes);
  SUPPLE_RETURN_IF_ERROR(asset);
  asset->damping = recipe.flesh.damping;
  Result<std::shared_ptr<const CharacterDrive>> drive = recipe_drive(recipe, character->prepared, character->rig);
  SUPPLE_RETURN_IF_ERROR(drive);
  asset->drive = std::move(*drive);
  asset->facts.warnings.insert(asset->facts.warnings.begin(), body->body.warnings.begin(), body->body.warnings.end());
  seconds.reduce = seconds_since(start);
  return SoftCharacter{std::move(character->prepared), std::move(character->rig), std::move(*asset), seconds};
}

Result<SoftCharacter> dress_with_asset(const Recipe& recipe, const std::filesystem::path& folder,
                                       CharacterAsset asset) {
  const auto start = Clock::now();
  Result<ReadCharacter> character = read(recipe, folder);
  SUPPLE_RETURN_IF_ERROR(character);
  const PoseLayout &rig = character->rig.rig()->layout(), &built = asset.model->rest->layout();
  const bool same = std::equal(rig.groups.begin(), rig.groups.end(), built.groups.begin(), built.groups.end(),
                               [](const ParameterGroup& a, const ParameterGroup& b) {
                                 return a.name == b.name && a.kind == b.kind && a.first == b.first;
                               });
  if (character->rig.rig()->vertex_count() != asset.model->surface.vertex_count())
    return input_error("the asset is for a skin of " + std::to_string(asset.model->surface.vertex_count()) +
                       " vertices, but the character has " + std::to_string(character->rig.rig()->vertex_count()) +
                       "; build it again");
  if (!same)
    return input_error(
        "the asset is for a rig with other parameters than the character's, whose skeleton or clips have changed; "
        "build it again");
  asset.damping = recipe.flesh.damping;
  return SoftCharacter{std::move(character->prepared), std::move(character->rig), std::move(asset),
                       BuildSeconds{.read = seconds_since(start)}};
}

}  // namespace supple
