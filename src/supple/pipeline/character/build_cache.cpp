// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/build_cache.h"

#include <elf.h>
#include <link.h>

#include "supple/io/file.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>

namespace supple {
namespace {

constexpr std::string_view magic = "SUPBLD01";
constexpr std::size_t checksum_size = 32, header_size = magic.size() + checksum_size;

// ---- which program this is ------------------------------------------------------------------------------------------

struct Search {
  std::uintptr_t address;
  std::string id;
};

/// The linker's hash of the program, from the notes of one segment.
std::string id_in_notes(const char* at, std::size_t size) {
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note{};
    std::memcpy(&note, at, sizeof note);
    const std::size_t name = (note.n_namesz + 3u) & ~std::size_t{3}, value = (note.n_descsz + 3u) & ~std::size_t{3};
    const std::size_t whole = sizeof note + name + value;
    if (whole > size) break;
    if (note.n_type == NT_GNU_BUILD_ID) return {at + sizeof note + name, note.n_descsz};
    at += whole;
    size -= whole;
  }
  return {};
}

int look_at_module(dl_phdr_info* module, std::size_t /*size*/, void* data) {
  auto& search = *static_cast<Search*>(data);
  bool ours = false;
  std::string id;
  for (int k = 0; k < module->dlpi_phnum; ++k) {
    const ElfW(Phdr)& segment = module->dlpi_phdr[k];
    const std::uintptr_t start = module->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && search.address >= start && search.address < start + segment.p_memsz) ours = true;
    if (segment.p_type == PT_NOTE && id.empty())
      id = id_in_notes(reinterpret_cast<const char*>(start), segment.p_memsz);
  }
  if (ours) search.id = id;
  return ours ? 1 : 0;
}

}  // namespace

std::string program_id() {
  Search search{reinterpret_cast<std::uintptr_t>(&look_at_module), {}};
  dl_iterate_phdr(look_at_module, &search);
  return search.id;
}

namespace {

// ---- files ----------------------------------------------------------------------------------------------------------

std::string header(const std::string& name, std::string_view bytes) {
  return std::string(magic) + ContentHash().add(std::string_view(name)).add(bytes).text();
}

/// "STAGE-KEY", the key 32 hexadecimal digits.
bool has_entry_name(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  if (name.size() < checksum_size + 2 || name[name.size() - checksum_size - 1] != '-') return false;
  return name.find_first_not_of("0123456789abcdef", name.size() - checksum_size) == std::string::npos;
}

/// Others may keep files in the folder too: ours are known by name and by their first bytes.
bool is_entry(const std::filesystem::path& path) {
  if (!has_entry_name(path)) return false;
  std::string start(checksum_size, '\0');
  std::ifstream file(path, std::ios::binary);
  if (!file.read(start.data(), std::ssize(start))) return false;
  if (start.starts_with(magic)) return true;
  // Entries of the first versions begin with their checksum; lists of other people's files may look alike.
  if (start.find_first_not_of("0123456789abcdef") != std::string::npos) return false;
  const std::string rest{std::istreambuf_iterator<char>(file), {}};
  return start == ContentHash().add(std::string_view(path.filename().string())).add(std::string_view(rest)).text();
}

struct File {
  std::filesystem::path path;
  std::uint64_t size = 0;
  std::filesystem::file_time_type used;
};

/// Our entries in the folder; some may come and go meanwhile.
std::vector<File> entries_in(const std::filesystem::path& folder) {
  std::vector<File> files;
  std::error_code gone;
  for (std::filesystem::directory_iterator at(folder, gone), end; !gone && at != end; at.increment(gone)) {
    std::error_code missing;
    File file{at->path(), at->file_size(missing), at->last_write_time(missing)};
    if (!missing && at->is_regular_file(missing) && is_entry(file.path)) files.push_back(std::move(file));
  }
  return files;
}

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

}  // namespace

BuildCache::BuildCache(std::filesystem::path folder, std::uint64_t most_bytes)
    : folder_(std::move(folder)), most_bytes_(most_bytes), program_(program_id()) {}

std::filesystem::path BuildCache::entry(std::string_view stage, const ContentHash& content) const {
  ContentHash key = content;
  key.add(std::string_view(program_));
  return folder_ / (std::string(stage) + "-" + key.text());
}

std::optional<std::string> BuildCache::find(std::string_view stage, const ContentHash& content) {
  if (program_.empty() || folder_.empty()) return {};
  const std::filesystem::path path = entry(stage, content);
  Result<std::string> bytes = read_file(path);
  if (!bytes.ok()) return {};
  std::error_code ignored;
  const std::string_view whole = *bytes;
  if (!whole.starts_with(magic)) return {};  // somebody else's
  if (whole.size() < header_size ||
      whole.substr(0, header_size) != header(path.filename().string(), whole.substr(header_size))) {
    std::filesystem::remove(path, ignored);
    return {};
  }
  std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now(), ignored);
  bytes->erase(0, header_size);
  const std::lock_guard lock(mutex_);
  found_.emplace(stage);
  return std::move(*bytes);
}

void BuildCache::keep(std::string_view stage, const ContentHash& content, std::string_view bytes) {
  {
    const std::lock_guard lock(mutex_);
    made_.emplace(stage);
  }
  if (program_.empty() || folder_.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(folder_, ignored);
  const std::filesystem::path path = entry(stage, content);
  if (std::filesystem::exists(path, ignored) && !is_entry(path)) return;
  Result<AtomicFile> file = AtomicFile::open(path, Appear::at_once);
  if (!file.ok()) return;
  if (file->write(header(path.filename().string(), bytes)).ok() && file->write(bytes).ok() && file->commit().ok())
    remove_oldest();
}

void BuildCache::remove_oldest() {
  if (most_bytes_ == unlimited) return;
  std::vector<File> files = entries_in(folder_);
  std::error_code ignored;
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.used < b.used; });
  std::uint64_t total = std::accumulate(files.begin(), files.end(), std::uint64_t{0},
                                        [](std::uint64_t sum, const File& file) { return sum + file.size; });
  for (const File& file : files) {
    if (total <= most_bytes_) break;
    std::filesystem::remove(file.path, ignored);
    total -= file.size;
  }
}

std::vector<std::string> BuildCache::found() const {
  const std::lock_guard lock(mutex_);
  return {found_.begin(), found_.end()};
}

std::vector<std::string> BuildCache::made() const {
  const std::lock_guard lock(mutex_);
  return {made_.begin(), made_.end()};
}

std::filesystem::path default_cache_folder() {
  if (const char* folder = variable("SUPPLE_CACHE_DIR")) return folder;
  if (const char* folder = variable("XDG_CACHE_HOME")) return std::filesystem::path(folder) / "supple" / "build";
  if (const char* home = variable("HOME")) return std::filesystem::path(home) / ".cache" / "supple" / "build";
  return {};
}

std::uint64_t default_cache_size() {
  const char* text = variable("SUPPLE_CACHE_MB");
  std::uint64_t megabytes = 0;
  if (text == nullptr || std::from_chars(text, text + std::strlen(text), megabytes).ec != std::errc())
    return BuildCache::default_size;
  return megabytes * 1'000'000;
}

std::unique_ptr<BuildCache> default_cache() {
  std::filesystem::path folder = default_cache_folder();
  if (folder.empty()) return nullptr;
  return std::make_unique<BuildCache>(std::move(folder), default_cache_size());
}

}  // namespace supple
