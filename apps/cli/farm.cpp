// SPDX-License-Identifier: Apache-2.0
// supple farm: characters × clips × ranges of frames as tasks, for Slurm or for the slots of this machine. A task
// solves frames and keeps them in a folder that all machines see; the last one bakes with them as `supple bake` does,
// which finds every frame there. So the result has the bits of a single bake.
//
//   FOLDER/NAME_soft.glb          what comes out
//   FOLDER/farm/frames            solved frames, by the content of what they are made from
//   FOLDER/farm/HASH              one plan: plan.json, models, and the files of pipeline/farm/farm_stage.h
#include "bake_options.h"
#include "supple/export/baked_mark.h"
#include "supple/io/file.h"
#include "supple/pipeline/character/fingerprint.h"
#include "supple/pipeline/farm/farm_stage.h"
#include "supple/pipeline/plant/plant_recipe.h"

#include <charconv>
#include <map>
#include <thread>

namespace supple::farm_verb {
namespace {

constexpr std::string_view engine_name = "quasistatic";
constexpr int most_parts_of_task = 1'000'000;

struct Options : BakeOptions {
  std::string what;
  std::string scheduler = "auto";
  std::vector<std::string> slurm;
  std::vector<CLI::Option*> of_bake;  ///< handed on to tasks
  int slots = 0, processors = 1, tries = 3, parts = 0;
};

// ---- the plan -------------------------------------------------------------------------------------------------------

/// Some parts of one clip of one character.
struct SolveTask {
  std::size_t character = 0;
  Index clip = 0;
  std::vector<Index> parts;
  std::string words;
};

struct PlannedCharacter {
  std::string input;  ///< absolute
  std::filesystem::path output;
};

/// What all tasks of a farm read.
struct Plan {
  std::filesystem::path folder;      ///< of the farm, absolute
  std::vector<std::string> options;  ///< of the bake
  std::vector<PlannedCharacter> characters;
  std::vector<SolveTask> tasks;
  std::string content;  ///< a hash of all, the characters and the program

  std::filesystem::path own_folder() const { return folder / "farm" / content.substr(0, 12); }
  std::filesystem::path frames() const { return folder / "farm" / "frames"; }
  std::filesystem::path model(std::size_t character) const {
    return own_folder() / fmt::format("model_{}.supple", character);
  }
  FarmStage stage(const std::string& name) const;
};

FarmStage Plan::stage(const std::string& name) const {
  FarmStage stage{own_folder(), name, {}, {}};
  if (name == "build") {
    stage.doing = "building models";
    for (const PlannedCharacter& character : characters) stage.tasks.push_back(character.input);
  } else if (name == "solve") {
    stage.doing = "solving";
    for (const SolveTask& task : tasks) stage.tasks.push_back(task.words);
  } else {
    stage.doing = "merging";
    stage.tasks.push_back(fmt::format("all {}", counted(characters.size(), "character", "characters")));
  }
  return stage;
}

Json plan_json(const Plan& plan) {
  Json out = {{"farm", 1}, {"content", plan.content}, {"folder", plan.folder.string()}, {"options", plan.options}};
  for (const PlannedCharacter& character : plan.characters)
    out["characters"].push_back({{"input", character.input}, {"output", character.output.string()}});
  for (const SolveTask& task : plan.tasks)
    out["tasks"].push_back(
        {{"character", task.character}, {"clip", task.clip}, {"parts", task.parts}, {"words", task.words}});
  return out;
}

/// Of a plan's file, which a farm of this program has written.
Result<Plan> read_plan(const std::filesystem::path& file) {
  const Result<std::string> text = read_file(file);
  SUPPLE_RETURN_IF_ERROR(text);
  try {
    const Json in = Json::parse(*text);
    Plan plan;
    plan.content = in.at("content").get<std::string>();
    plan.folder = in.at("folder").get<std::string>();
    plan.options = in.at("options").get<std::vector<std::string>>();
    for (const Json& character : in.at("characters"))
      plan.characters.push_back({character.at("input").get<std::string>(), character.at("output").get<std::string>()});
    for (const Json& task : in.at("tasks")) {
      plan.tasks.push_back({task.at("character").get<std::size_t>(), task.at("clip").get<Index>(),
                            task.at("parts").get<std::vector<Index>>(), task.at("words").get<std::string>()});
      if (plan.tasks.back().character >= plan.characters.size()) throw std::out_of_range("character");
    }
    return plan;
  } catch (const std::exception&) {
    return input_error(fmt::format("{} is no plan of a farm; run supple farm bake again", file.string()));
  }
}

/// "--name=value" of what was given.
std::vector<std::string> words_of(const std::vector<CLI::Option*>& options) {
  std::vector<std::string> words;
  for (const CLI::Option* option : options) {
    if (option->count() == 0) continue;
    const bool flag = option->get_type_size() == 0;
    for (const std::string& value : option->results())
      words.push_back(flag || value.empty() ? option->get_name() : option->get_name() + "=" + value);
  }
  return words;
}

Result<BakeOptions> options_from(const std::vector<std::string>& words) {
  BakeOptions options;
  options.engine = engine_name;
  CLI::App app;
  add_bake_options(app, options);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& problem) {
    return input_error(fmt::format("the farm's plan can't be followed: {}", problem.what()));
  }
  return options;
}

/// Everything of a character that what comes out is made from.
Status add_character(const CharacterSource& source, ContentHash& content) {
  content.add(std::string_view(write_recipe(source.recipe)));
  add_content(content, source.character);
  for (const std::string& hash : fingerprint_of(source).hashes) content.add(std::string_view(hash));
  return {};
}

/// What parts of a clip a farm's task gets, so that no task holds more than `most`.
void add_tasks(std::size_t character, const std::string& name, const Clip& clip, Index clip_index,
               const std::vector<Index>& parts, int most, std::vector<SolveTask>& tasks) {
  for (std::size_t k = 0; k < parts.size(); k += to_size(most)) {
    const std::size_t end = std::min(parts.size(), k + to_size(most));
    SolveTask task{character, clip_index, {}, {}};
    task.parts.assign(parts.begin() + static_cast<std::ptrdiff_t>(k), parts.begin() + static_cast<std::ptrdiff_t>(end));
    task.words = fmt::format("{}, clip {}, parts {} to {}", name, clip.name, task.parts.front(), task.parts.back());
    tasks.push_back(std::move(task));
  }
}

/// Parts of the clips of one character.
struct ClipParts {
  std::size_t character = 0;
  std::string name;
  Clip clip;
  Index index = 0;
  std::vector<Index> parts;
};

/// Tasks of as many parts as was asked for, or more where there would be too many tasks.
std::vector<SolveTask> divide(const std::vector<ClipParts>& clips, int wanted, Index most_tasks) {
  constexpr int usual = 4;
  for (int most = wanted > 0 ? wanted : usual;; most *= 2) {
    std::vector<SolveTask> tasks;
    for (const ClipParts& clip : clips)
      add_tasks(clip.character, clip.name, clip.clip, clip.index, clip.parts, most, tasks);
    if (std::ssize(tasks) <= most_tasks || most > most_parts_of_task) return tasks;
  }
}

Status plan_character(const Options& options, const std::string& input, Plan& plan, ContentHash& content,
                      std::vector<ClipParts>& clips, Session& session) {
  if (is_plant(input))
    return usage_error(fmt::format("{} has no skeleton; plants are baked by `supple bake`, in no time", input));
  const Result<CharacterSource> source = read_source(options, input, session);
  if (!source.ok()) return about(input, source.error());
  const Result<BakeSettings> settings = bake_settings(options, source->recipe);
  SUPPLE_RETURN_IF_ERROR(settings);
  const Result<std::vector<Index>> chosen = chosen_clips(source->character, settings->clips);
  if (!chosen.ok()) return about(input, chosen.error());
  SUPPLE_RETURN_IF_ERROR(add_character(*source, content));
  const Result<const CharacterEngine*> engine = find_engine(options.engine);
  SUPPLE_RETURN_IF_ERROR(engine);
  for (const Index index : *chosen) {
    const Clip& clip = source->character.clips[to_size(index)];
    const Result<SimulateSettings> simulate = clip_settings(source->rig, clip, *settings);
    if (!simulate.ok()) return about(input, simulate.error());
    clips.push_back({plan.characters.size(), input, clip, index, (*engine)->parts_of(source->recipe, clip, *simulate)});
  }
  const std::filesystem::path output = plan.folder / output_for(options, input).filename();
  for (const PlannedCharacter& other : plan.characters)
    if (other.output == output)
      return usage_error(fmt::format("{} and {} would both become {}; bake them into different folders", other.input,
                                     input, output.string()));
  plan.characters.push_back({std::filesystem::absolute(input).string(), output});
  return {};
}

Result<Plan> make_plan(const Options& options, Index most_tasks, Session& session) {
  Plan plan;
  plan.folder = std::filesystem::absolute(options.output).lexically_normal();
  plan.options = words_of(options.of_bake);
  ContentHash content;
  content.add(std::string_view(program_id())).add(plan.options);
  std::vector<ClipParts> clips;
  for (const std::string& input : options.inputs)
    SUPPLE_RETURN_IF_ERROR(plan_character(options, input, plan, content, clips, session));
  plan.tasks = divide(clips, options.parts, most_tasks);
  for (const PlannedCharacter& character : plan.characters)
    content.add(std::string_view(character.input)).add(std::string_view(character.output.string()));
  for (const SolveTask& task : plan.tasks) content.add(task.character).add(task.clip).add(task.parts);
  plan.content = content.text();
  return plan;
}

// ---- tasks ----------------------------------------------------------------------------------------------------------

/// A store that frames are never dropped from.
BuildCache frame_store(const Plan& plan) { return BuildCache(plan.frames(), BuildCache::unlimited); }

Status build_model(const Plan& plan, const BakeOptions& options, std::size_t character, Session& session) {
  const std::string& input = plan.characters[character].input;
  Result<CharacterSource> source = read_source(options, input, session);
  if (!source.ok()) return about(input, source.error());
  const Result<const CharacterEngine*> engine = find_engine(engine_name);
  SUPPLE_RETURN_IF_ERROR(engine);
  const std::unique_ptr<BuildCache> cache = options.open_cache();
  const Result<std::unique_ptr<SoftCharacter>> soft =
      (*engine)->build(std::make_shared<const CharacterSource>(std::move(*source)), session.progress,
                       cache ? *cache : StageStore::none());
  if (!soft.ok()) return about(input, soft.error());
  const Result<std::string> bytes = encode_asset((*soft)->asset());
  if (!bytes.ok()) return about(input, bytes.error());
  return write_file_atomically(plan.model(character), *bytes, Appear::at_once);
}

Status solve_task(const Plan& plan, const BakeOptions& options, const SolveTask& task, Session& session) {
  const std::string& input = plan.characters[task.character].input;
  Result<CharacterSource> source = read_source(options, input, session);
  if (!source.ok()) return about(input, source.error());
  Result<BakeSettings> settings = bake_settings(options, source->recipe);
  SUPPLE_RETURN_IF_ERROR(settings);
  if (task.clip < 0 || task.clip >= std::ssize(source->character.clips))
    return input_error(fmt::format("{} has other clips than it had when the farm was planned", input));
  Result<Asset> model = load_asset(plan.model(task.character));
  SUPPLE_RETURN_IF_ERROR(model);
  const Result<const CharacterEngine*> engine = engine_of(*model);
  SUPPLE_RETURN_IF_ERROR(engine);
  const auto shared = std::make_shared<const CharacterSource>(std::move(*source));
  const Result<std::unique_ptr<SoftCharacter>> soft = (*engine)->take_asset(shared, std::move(*model));
  if (!soft.ok()) return about(input, soft.error());
  BuildCache store = frame_store(plan);
  settings->simulate.parts = &store;
  const Clip& clip = shared->character.clips[to_size(task.clip)];
  const Result<SimulateSettings> simulate = clip_settings(shared->rig, clip, *settings);
  if (!simulate.ok()) return about(input, simulate.error());
  session.progress.stage("solving");
  return (*soft)->solve_parts(clip, *simulate, task.parts, session.progress);
}

std::filesystem::path merge_report(const Plan& plan) { return plan.own_folder() / "merge.json"; }

/// The bake itself, which finds every frame solved.
Status merge(const Plan& plan, BakeOptions options, Session& session) {
  BuildCache store = frame_store(plan);
  options.parts = &store;
  Json characters = Json::array();
  for (std::size_t c = 0; c < plan.characters.size(); ++c) {
    const PlannedCharacter& character = plan.characters[c];
    options.asset = plan.model(c).string();
    options.output = character.output.string();
    if (writes_caches(options)) SUPPLE_RETURN_IF_ERROR(session.files.make_folder(character.output));
    Json one = Json::object();
    SUPPLE_RETURN_IF_ERROR(bake_one(options, character.input, character.output, session, one));
    characters.push_back(std::move(one));
  }
  SUPPLE_RETURN_IF_ERROR(session.files.commit());
  const Json report = {{"characters", characters}, {"text", session.text}, {"warnings", session.warnings}};
  session.text.clear();
  session.warnings.clear();
  return write_file_atomically(merge_report(plan), report.dump(2, ' ', false, Json::error_handler_t::replace),
                               Appear::at_once);
}

std::optional<Index> number_in(const std::string& text, std::size_t count) {
  Index number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0 || to_size(number) >= count) return {};
  return number;
}

/// supple farm task PLAN STAGE N
Status run_task(const Options& options, Session& session) {
  if (options.inputs.size() != 3)
    return usage_error("farm task takes a plan, a stage and a number; `supple farm bake` starts such tasks");
  const Result<Plan> plan = read_plan(options.inputs[0]);
  SUPPLE_RETURN_IF_ERROR(plan);
  const std::string& name = options.inputs[1];
  const FarmStage stage = plan->stage(name);
  const std::optional<Index> number = number_in(options.inputs[2], stage.tasks.size());
  if ((name != "build" && name != "solve" && name != "merge") || !number)
    return usage_error(fmt::format("{} has no task {} {}", options.inputs[0], name, options.inputs[2]));
  if (stage.done(*number)) return {};
  const Result<BakeOptions> bake = options_from(plan->options);
  SUPPLE_RETURN_IF_ERROR(bake);
  Status done;
  if (name == "build")
    done = build_model(*plan, *bake, to_size(*number), session);
  else if (name == "solve")
    done = solve_task(*plan, *bake, plan->tasks[to_size(*number)], session);
  else
    done = merge(*plan, *bake, session);
  SUPPLE_RETURN_IF_ERROR(done);
  return mark_farm_task_done(stage, *number);
}

// ---- the waiter -----------------------------------------------------------------------------------------------------

Result<std::unique_ptr<FarmScheduler>> choose_scheduler(const Options& options, Session& session) {
  bool installed = false;
  const std::string silence = options.scheduler == "local" ? "" : why_no_slurm(installed);
  if (options.scheduler != "local" && silence.empty()) return slurm_scheduler({options.processors, options.slurm});
  if (options.scheduler == "slurm") return failure(silence + "; --scheduler local uses this machine");
  if (installed) session.warnings.push_back(silence + "; this machine does the work");
  const int own = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  return local_scheduler(options.slots > 0 ? options.slots : std::max(1, own / options.processors));
}

Result<FarmReport> run_stage(const Plan& plan, const std::string& name, const Options& options,
                             FarmScheduler& scheduler, Session& session) {
  const FarmStage stage = plan.stage(name);
  std::vector<std::string> words = {std::filesystem::read_symlink("/proc/self/exe").string(), "farm", "task", "--quiet",
                                    fmt::format("--threads={}", options.processors)};
  if (session.force) words.emplace_back("--force");
  words.push_back((plan.own_folder() / "plan.json").string());
  words.push_back(name);
  SUPPLE_RETURN_IF_ERROR(write_farm_script(stage, std::filesystem::current_path(), words));
  return run_farm_stage(stage, scheduler, options.tries, session.progress);
}

/// What the merging task has told.
Status tell_merged(const Plan& plan, Session& session) {
  const Result<std::string> text = read_file(merge_report(plan));
  SUPPLE_RETURN_IF_ERROR(text);
  const Json merged = Json::parse(*text, nullptr, false);
  if (merged.is_discarded() || !merged.contains("characters"))
    return failure(fmt::format("{} can't be read", merge_report(plan).string()));
  session.result["characters"] = merged["characters"];
  session.text += merged.value("text", "");
  for (const Json& warning : merged["warnings"]) session.warnings.push_back(warning.get<std::string>());
  return {};
}

Status check(const Options& options) {
  if (options.output.empty()) return usage_error("farm bake: -o FOLDER is required; see supple farm --help");
  if (options.engine != engine_name)
    return usage_error(fmt::format(
        "a farm divides clips whose frames don't depend on each other, which takes --engine quasistatic, not {}",
        options.engine));
  if (std::filesystem::exists(options.output) && !std::filesystem::is_directory(options.output))
    return input_error(fmt::format("-o {}: a farm writes into a folder, and this is a file", options.output));
  return check_frames(options);
}

/// What somebody else made is replaced with --force only.
Status check_outputs(const Plan& plan, const Options& options, const Session& session) {
  std::error_code none;
  for (const PlannedCharacter& character : plan.characters)
    if (!session.force && !writes_caches(options) && std::filesystem::exists(character.output, none) &&
        !is_baked_file(character.output))
      return usage_error(
          fmt::format("{} is there already and is no character that we baked; name another folder, or "
                      "--force",
                      character.output.string()));
  return {};
}

Status make_farm_folder(const Plan& plan) {
  std::error_code problem;
  std::filesystem::create_directories(plan.own_folder(), problem);
  if (problem) return input_error(fmt::format("{} can't be made: {}", plan.own_folder().string(), problem.message()));
  return write_file_atomically(plan.own_folder() / "plan.json", plan_json(plan).dump(1), Appear::at_once);
}

Status farm(const Options& options, Session& session) {
  SUPPLE_RETURN_IF_ERROR(check(options));
  Result<std::unique_ptr<FarmScheduler>> scheduler = choose_scheduler(options, session);
  SUPPLE_RETURN_IF_ERROR(scheduler);
  const Result<Plan> plan = make_plan(options, (*scheduler)->most_tasks(), session);
  SUPPLE_RETURN_IF_ERROR(plan);
  SUPPLE_RETURN_IF_ERROR(check_outputs(*plan, options, session));
  SUPPLE_RETURN_IF_ERROR(make_farm_folder(*plan));
  session.result["scheduler"] = (*scheduler)->name();
  session.result["folder"] = plan->own_folder().string();
  // Outputs may have been moved away meanwhile; merging takes little.
  std::error_code none;
  std::filesystem::remove(plan->stage("merge").file(0, "done"), none);
  std::string again;
  for (const std::string name : {"build", "solve", "merge"}) {
    const Result<FarmReport> report = run_stage(*plan, name, options, **scheduler, session);
    SUPPLE_RETURN_IF_ERROR(report);
    session.result["stages"].push_back(
        {{"name", name}, {"tasks", report->tasks}, {"found", report->found}, {"again", report->again}});
    if (name == "solve")
      session.line("farm          {} by {}, {} of them done before{}", counted(to_size(report->tasks), "task", "tasks"),
                   (*scheduler)->name(), report->found,
                   report->again > 0 ? fmt::format(", {} handed in again", report->again) : std::string());
  }
  return tell_merged(*plan, session);
}

RunCommand add(CLI::App& app) {
  describe(
      app,
      "supple farm bake CHARACTERS… -o FOLDER: bakes with the engine \"quasistatic\" on many machines.\n"
      "Characters × clips × frames become tasks of a Slurm job array, or where there is no Slurm, processes of\n"
      "this machine. FOLDER is one that all of them see. Tasks that fail or are killed are handed in again; a last\n"
      "one writes FOLDER/NAME_soft.glb, the same to the bit as `supple bake` writes. The command waits and shows\n"
      "how far they are; stopped, it ends them, and started again it goes on with what isn't done.\n"
      "FOLDER/farm holds frames, models and logs, and may be removed when all is done.\n",
      "  supple farm bake hero.glb -o shots\n"
      "  supple farm bake hero.toml foe.toml -o shots --clip run --slurm=--partition=film --slurm=--mem=8G\n"
      "  supple farm bake hero.glb -o shots --scheduler local --slots 2\n");
  const auto options = std::make_shared<Options>();
  options->engine = engine_name;
  app.add_option("WHAT", options->what, "bake; tasks are started by it")
      ->required()
      ->check(CLI::IsMember({"bake", "task"}).description(""))
      ->type_name("");
  app.add_option("INPUT", options->inputs, "A character (.glb, .gltf) or a recipe (.toml); or several")
      ->required()
      ->type_name("");
  app.add_option("-o,--output", options->output, "The folder that the results are written to")->type_name("FOLDER");
  app.add_option("--scheduler", options->scheduler,
                 "slurm, local, or auto: Slurm where it answers, else this machine [auto]")
      ->check(CLI::IsMember({"auto", "slurm", "local"}).description(""))
      ->type_name("WHICH");
  app.add_option("--slurm", options->slurm, "An option for sbatch, such as --slurm=--partition=film; may be repeated")
      ->allow_extra_args(false)
      ->type_name("OPTION");
  app.add_option("--slots", options->slots, "Tasks at a time on this machine [as many as it has processors for]")
      ->check(between(1, 4096))
      ->type_name("N");
  app.add_option("--processors", options->processors, "Threads of each task [1]")
      ->check(between(1, 4096))
      ->type_name("N");
  app.add_option(
         "--parts", options->parts,
         "Parts of a clip for each task, of eight solved frames each [4, or more where Slurm takes fewer tasks]")
      ->check(between(1, most_parts_of_task))
      ->type_name("N");
  app.add_option("--tries", options->tries, "How often a task is handed in before the farm fails [3]")
      ->check(between(1, 1000))
      ->type_name("N");
  const std::vector<CLI::Option*> before = app.get_options();
  add_bake_options(app, *options);
  for (CLI::Option* option : app.get_options())
    if (std::find(before.begin(), before.end(), option) == before.end()) options->of_bake.push_back(option);
  return [options](Session& session) {
    return options->what == "task" ? run_task(*options, session) : farm(*options, session);
  };
}

const RegisteredCommand registered{16, "farm", "Bake on many machines, or in many processes.", add};

}  // namespace
}  // namespace supple::farm_verb
