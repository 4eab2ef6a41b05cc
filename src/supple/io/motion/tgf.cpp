// SPDX-License-Identifier: Apache-2.0
#include "supple/io/motion/tgf.h"

#include <fmt/format.h>

#include "supple/io/file.h"
#include "supple/io/text_scanner.h"

#include <map>

namespace supple {
namespace {

class TgfReader {
 public:
  TgfReader(std::string_view text, const std::string& name) : scanner_(text, name), name_(name) {}

  Result<HandleRig> read() {
    SUPPLE_RETURN_IF_ERROR(read_places());
    SUPPLE_RETURN_IF_ERROR(read_edges());
    if (places_.empty()) return input_error(name_ + ": there is no handle in it; write a line \"1 x y z\" for each.");
    HandleRig rig = make_rig();
    const Result<std::vector<Index>> order = parents_first(rig, name_);
    SUPPLE_RETURN_IF_ERROR(order);
    return rig;
  }

 private:
  using Edge = std::array<Index, 2>;

  Status read_places() {
    TextScanner line("", name_);
    while (!scanner_.peek().starts_with('#') && scanner_.next_line(line)) {
      std::int64_t number = 0;
      Vec3 place;
      if (!line.read(number) || !line.read_point(place)) return line.error();
      if (!number_of_.emplace(number, static_cast<Index>(places_.size())).second)
        return line.fail(fmt::format("the place {} comes twice; number them differently", number));
      places_.push_back(place);
    }
    if (!scanner_.at_end()) scanner_.rest_of_line();
    return {};
  }

  Status read_edges() {
    TextScanner line("", name_);
    while (!scanner_.peek().starts_with('#') && scanner_.next_line(line)) SUPPLE_RETURN_IF_ERROR(read_edge(line));
    return {};
  }

  Status read_edge(TextScanner& line) {
    std::int64_t ends[2] = {};
    if (!line.read(ends[0]) || !line.read(ends[1])) return line.error();
    Edge edge{};
    for (std::size_t k = 0; k < 2; ++k) {
      const auto found = number_of_.find(ends[k]);
      if (found == number_of_.end())
        return line.fail(fmt::format("there is no place {}; name one of the {} above", ends[k], places_.size()));
      edge[k] = found->second;
    }
    if (edge[0] == edge[1]) return line.fail("a bone needs two different places");
    const bool bare = line.at_end();
    std::int64_t flags[3] = {bare ? 1 : 0, 0, 0};
    for (std::int64_t& flag : flags)
      if (!line.at_end() && !line.read(flag)) return line.error();
    if (flags[2] != 0)
      return line.fail("edges of a cage aren't read; use bones (a third number of 1) or points without edges");
    if (flags[0] != 0) bones_.push_back(edge);
    return {};
  }

  HandleRig make_rig() const {
    std::vector<char> at_bone(places_.size(), 0);
    for (const Edge& bone : bones_) at_bone[to_size(bone[0])] = at_bone[to_size(bone[1])] = 1;
    HandleRig rig;
    const auto add = [&](const Vec3& head, const Vec3& tail, bool bone) {
      Handle& handle = rig.handles.emplace_back();
      handle.name = handle_name(rig.handles.size() - 1);
      handle.bone = bone;
      handle.head = head;
      handle.tail = tail;
      handle.rest.translation() = head;
    };
    for (std::size_t v = 0; v < places_.size(); ++v)
      if (!at_bone[v]) add(places_[v], places_[v], false);
    const auto first_bone = static_cast<Index>(rig.handles.size());
    for (const Edge& bone : bones_) add(places_[to_size(bone[0])], places_[to_size(bone[1])], true);
    std::vector<Index> ends_here(places_.size(), -1);
    for (std::size_t b = bones_.size(); b-- > 0;) ends_here[to_size(bones_[b][1])] = first_bone + static_cast<Index>(b);
    for (std::size_t b = 0; b < bones_.size(); ++b)
      rig.handles[to_size(first_bone) + b].parent = ends_here[to_size(bones_[b][0])];
    return rig;
  }

  TextScanner scanner_;
  const std::string& name_;
  std::vector<Vec3> places_;
  std::map<std::int64_t, Index> number_of_;
  std::vector<Edge> bones_;
};

}  // namespace

Result<HandleRig> parse_tgf(std::string_view text, const std::string& name) { return TgfReader(text, name).read(); }

Result<HandleRig> load_tgf(const std::filesystem::path& path) {
  const Result<std::string> text = read_file(path);
  SUPPLE_RETURN_IF_ERROR(text);
  return parse_tgf(*text, path.string());
}

}  // namespace supple
