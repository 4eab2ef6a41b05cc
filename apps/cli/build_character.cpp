// SPDX-License-Identifier: Apache-2.0
#include "build_character.h"

#include "asset_report.h"
#include "contact_report.h"
#include "supple/io/file.h"
#include "supple/io/file_kind.h"

namespace supple {

Result<std::optional<CharacterSource>> character_in(const std::string& input) {
  using Found = std::optional<CharacterSource>;
  const bool toml = std::filesystem::path(input).extension() == ".toml";
  if (toml) {
    const Result<std::string> text = read_file(input);
    if (!text.ok() || !looks_like_recipe(*text)) return Found();
  } else if (kind_of_extension(input) != FileKind::gltf) {
    return Found();
  }
  Result<CharacterSource> source = load_source(input);
  if (source.ok()) return Found(std::move(*source));
  if (toml) return about(input, source.error());
  return Found();  // a glTF file without a skin is an object, whose reader says what is wrong with it
}

Status build_character_asset(CharacterSource source, const std::string& input, const std::string& output,
                             const CharacterOptions& options, Session& session) {
  const Result<const CharacterEngine*> engine = find_engine(options.engine);
  SUPPLE_RETURN_IF_ERROR(engine);
  source.recipe.apply(options);
  const std::unique_ptr<BuildCache> cache = options.open_cache();
  const Result<std::unique_ptr<SoftCharacter>> built =
      (*engine)->build(std::make_shared<const CharacterSource>(std::move(source)), session.progress,
                       cache ? *cache : StageStore::none());
  if (!built.ok()) return about(input, built.error());
  const SoftCharacter& soft = **built;
  const Result<std::string> bytes = encode_asset(soft.asset());
  if (!bytes.ok()) return about(input, bytes.error());
  SUPPLE_RETURN_IF_ERROR(write_file_atomically(output, *bytes));
  session.warnings = soft.character().warnings;
  for (const std::string& warning : soft.warnings()) session.warnings.push_back(warning);
  session.line("{}", input);
  tell_body(soft.asset(), session);
  tell_contacts(soft.source(), session, session.result);
  session.line("time          body {:.2f} s, model {:.2f} s", soft.seconds.embed, soft.seconds.reduce);
  session.line("written       {} ({:.2f} MB)", output, static_cast<double>(bytes->size()) / 1e6);
  tell_cache(cache.get(), session);
  Json& out = session.result;
  out["input"] = input;
  out["asset"] = output;
  out["engine"] = (*engine)->name();
  fill_body(soft.asset(), out);
  out["bytes"] = bytes->size();
  out["timing"] = {{"embed_s", soft.seconds.embed}, {"reduce_s", soft.seconds.reduce}};
  out["cache"] = cache_json(cache.get());
  return {};
}

}  // namespace supple
