// SPDX-License-Identifier: Apache-2.0
#include "supple/asset/rig_archive.h"

#include "supple/rig/deform/carried_rig.h"
#include "supple/rig/deform/pose_space.h"
#include "supple/rig/deform/rig_stack.h"
#include "supple/rig/deform/skin_deformer.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace supple {
namespace {

constexpr Index no_limit = std::numeric_limits<Index>::max();

std::string stage_name(const std::string& prefix, std::size_t k) { return prefix + ".stage" + std::to_string(k); }

MatX column_of(std::span<const double> values) {
  return Eigen::Map<const VecX>(values.data(), static_cast<Eigen::Index>(values.size()));
}

// ---- parameters -----------------------------------------------------------------------------------------------------

void write_layout(ArchiveWriter& writer, const std::string& prefix, const PoseLayout& layout) {
  std::string names, units;
  std::vector<Index> kinds;
  MatX scales(1, std::ssize(layout.groups));
  for (const ParameterGroup& group : layout.groups) {
    scales(0, std::ssize(kinds)) = group.scale;
    names += group.name + '\0';
    units += group.unit + '\0';
    kinds.push_back(static_cast<Index>(group.kind));
  }
  writer.add(prefix + ".names", std::string_view(names));
  writer.add(prefix + ".units", std::string_view(units));
  writer.add(prefix + ".kinds", kinds);
  writer.add(prefix + ".scales", scales);
  writer.add(prefix + ".neutral", column_of(layout.neutral));
}

/// Words that end in a zero byte.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\0', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

PoseLayout read_layout(ArchiveReader& reader, const std::string& prefix) {
  const std::vector<std::string> names = words_of(reader.text(prefix + ".names"));
  const std::vector<std::string> units = words_of(reader.text(prefix + ".units"));
  const auto count = std::ssize(names);
  const std::vector<Index> kinds =
      reader.indices(prefix + ".kinds", count, static_cast<Index>(ParameterKind::scalar) + 1);
  const MatX scales = reader.matrix(prefix + ".scales", 1, count);
  const MatX neutral = reader.matrix(prefix + ".neutral", ArchiveReader::any, 1);
  PoseLayout layout;
  if (units.size() != names.size()) reader.misfit(prefix + ".units");
  if (!reader.ok()) return layout;
  for (std::size_t k = 0; k < names.size(); ++k) {
    const auto kind = static_cast<ParameterKind>(kinds[k]);
    const auto width = to_size(parameter_width(kind));
    if (static_cast<Eigen::Index>(layout.neutral.size() + width) > neutral.rows()) break;
    layout.add(names[k], kind, {neutral.data() + layout.neutral.size(), width}, units[k],
               scales(0, static_cast<Eigen::Index>(k)));
  }
  if (layout.groups.size() != names.size() || layout.size() != neutral.rows()) reader.misfit(prefix + ".neutral");
  return layout;
}

MatX taught_poses(const PoseSpaceWeights& weights) {
  MatX poses(weights.layout().size(), weights.pose_count());
  for (Index i = 0; i < weights.pose_count(); ++i) poses.col(i) = column_of(weights.pose(i));
  return poses;
}

/// first[0] = 0, ascending, the last one `count`: where each vertex's entries begin.
bool cuts_up(std::span<const Index> first, std::size_t count) {
  return !first.empty() && first.front() == 0 && to_size(first.back()) == count &&
         std::is_sorted(first.begin(), first.end());
}

constexpr Eigen::Index transform_size = 10;
VecX numbers_of(const Transform& t) {
  VecX numbers(transform_size);
  numbers << t.translation, t.rotation.coeffs(), t.scale;
  return numbers;
}
Transform transform_of(const VecX& numbers) {
  Transform t;
  t.translation = numbers.head<3>();
  t.rotation.coeffs() = numbers.segment<4>(3);
  t.scale = numbers.tail<3>();
  return t;
}

}  // namespace

// ---- out ------------------------------------------------------------------------------------------------------------

class RigArchive::Output {
 public:
  explicit Output(ArchiveWriter& writer) : writer_(writer) {}

  Status rig(const std::string& prefix, const Rig& rig, std::span<const Index> vertices) {
    if (const auto* carried = dynamic_cast<const CarriedRig*>(&rig)) return this->carried(prefix, *carried, vertices);
    if (const auto* corrected = dynamic_cast<const PoseSpaceRig*>(&rig))
      return this->corrected(prefix, *corrected, vertices);
    if (const auto* stack = dynamic_cast<const StackRig*>(&rig)) return this->stack(prefix, *stack, vertices);
    return unknown();
  }

 private:
  static Error unknown() {
    return input_error(
        "the rig runs code of its own, which a file can't hold; build the character from skins, morph targets, wires "
        "or bends");
  }
  void kind(const std::string& prefix, std::string_view name) { writer_.add(prefix + ".kind", name); }

  Status carried(const std::string& prefix, const CarriedRig& rig, std::span<const Index> vertices) {
    kind(prefix, "carried");
    std::vector<Index> place(to_size(rig.surface_->vertex_count()), -1), surface, hangs_on;
    std::vector<Vec3> rest;
    MatX weights(SurfaceCarry::neighbours, std::ssize(vertices));
    for (const Index vertex : vertices) {
      const auto v = to_size(vertex);
      for (std::size_t k = 0; k < SurfaceCarry::neighbours; ++k) {
        Index& at = place[to_size(rig.carry_.vertex[v][k])];
        if (at < 0) {
          at = static_cast<Index>(surface.size());
          surface.push_back(rig.carry_.vertex[v][k]);
        }
        hangs_on.push_back(at);
        weights(static_cast<Eigen::Index>(k), std::ssize(rest)) = rig.carry_.weight[v][k];
      }
      rest.push_back(rig.rest_[v]);
    }
    writer_.add(prefix + ".vertices", hangs_on);
    writer_.add(prefix + ".weights", weights);
    writer_.add(prefix + ".rest", columns_of(rest));
    return this->rig(prefix + ".surface", *rig.surface_, surface);
  }

  Status corrected(const std::string& prefix, const PoseSpaceRig& rig, std::span<const Index> vertices) {
    kind(prefix, "corrected");
    writer_.add(prefix + ".poses", taught_poses(rig.weights_));
    shapes(prefix, rig.corrections_, vertices);
    return this->rig(prefix + ".base", *rig.base_, vertices);
  }

  Status stack(const std::string& prefix, const StackRig& rig, std::span<const Index> vertices) {
    kind(prefix, "stack");
    std::vector<Vec3> rest;
    for (const Index v : vertices) rest.push_back(rig.rest_[to_size(v)]);
    writer_.add(prefix + ".rest", columns_of(rest));
    return stages(prefix, rig.stages_, vertices);
  }

  Status stages(const std::string& prefix, std::span<const DeformerPtr> stages, std::span<const Index> vertices) {
    writer_.add_number(prefix + ".stages", static_cast<Index>(stages.size()));
    for (std::size_t k = 0; k < stages.size(); ++k)
      SUPPLE_RETURN_IF_ERROR(stage(stage_name(prefix, k), *stages[k], vertices));
    return {};
  }

  Status stage(const std::string& prefix, const Deformer& deformer, std::span<const Index> vertices) {
    if (const auto* sum = dynamic_cast<const SumDeformer*>(&deformer)) {
      kind(prefix, "sum");
      return stages(prefix, sum->parts_, vertices);
    }
    write_layout(writer_, prefix, deformer.layout());
    if (const auto* skin = dynamic_cast<const SkinDeformer*>(&deformer)) {
      this->skin(prefix, *skin, vertices);
    } else if (const auto* blend = dynamic_cast<const BlendShapes*>(&deformer)) {
      kind(prefix, "shapes");
      shapes(prefix, blend->shapes_, vertices);
    } else if (const auto* wire = dynamic_cast<const Wire*>(&deformer)) {
      this->wire(prefix, *wire, vertices);
    } else if (const auto* bend = dynamic_cast<const Bend*>(&deformer)) {
      kind(prefix, "bend");
      MatX frame(3, 5);
      frame << bend->origin_, bend->frame_, Vec3::Constant(bend->length_);
      writer_.add(prefix + ".frame", frame);
    } else {
      return unknown();
    }
    return {};
  }

  void shapes(const std::string& prefix, const ShapeTable& table, std::span<const Index> vertices) {
    std::vector<Index> first = {0}, shape;
    std::vector<Vec3> displacements;
    for (const Index vertex : vertices) {
      const auto v = to_size(vertex);
      for (Index e = table.first_[v]; e < table.first_[v + 1]; ++e) {
        shape.push_back(table.entries_[to_size(e)].shape);
        displacements.push_back(table.entries_[to_size(e)].displacement);
      }
      first.push_back(static_cast<Index>(shape.size()));
    }
    writer_.add(prefix + ".first", first);
    writer_.add(prefix + ".shape", shape);
    writer_.add(prefix + ".displacements", columns_of(displacements));
  }

  void skin(const std::string& prefix, const SkinDeformer& skin, std::span<const Index> vertices) {
    kind(prefix, "skin");
    writer_.add_number(prefix + ".method", static_cast<Index>(skin.method_));
    writer_.add(prefix + ".common_scale", MatX::Constant(1, 1, skin.common_scale_));
    std::vector<Index> parents, moves, bones, parameters;
    MatX rest(transform_size, std::ssize(skin.slots_)), local(12, std::ssize(skin.slots_));
    for (const SkinDeformer::Slot& slot : skin.slots_) {
      const auto s = std::ssize(parents);
      rest.col(s) = numbers_of(slot.rest);
      local.col(s) = slot.local.matrix().reshaped();
      parents.push_back(slot.parent);
      moves.push_back(slot.moves ? 1 : 0);
    }
    MatX binds(15, std::ssize(skin.bones_));
    for (const SkinDeformer::SlotBone& bone : skin.bones_) {
      binds.col(std::ssize(bones)) << bone.inverse_bind.matrix().reshaped(), bone.centre;
      bones.push_back(bone.slot);
    }
    for (const SkinDeformer::Parameter& parameter : skin.parameters_) parameters.push_back(parameter.slot);
    writer_.add(prefix + ".joints", parents);
    writer_.add(prefix + ".moves", moves);
    writer_.add(prefix + ".joint_rest", rest);
    writer_.add(prefix + ".joint_local", local);
    writer_.add(prefix + ".bones", bones);
    writer_.add(prefix + ".binds", binds);
    writer_.add(prefix + ".parameters", parameters);
    influences(prefix, skin, vertices);
  }

  void influences(const std::string& prefix, const SkinDeformer& skin, std::span<const Index> vertices) {
    std::vector<Index> first = {0}, bones;
    std::vector<double> weights;
    for (const Index vertex : vertices) {
      const auto v = to_size(vertex);
      for (Index e = skin.first_influence_[v]; e < skin.first_influence_[v + 1]; ++e) {
        bones.push_back(skin.influences_[to_size(e)].bone);
        weights.push_back(skin.influences_[to_size(e)].weight);
      }
      first.push_back(static_cast<Index>(bones.size()));
    }
    writer_.add(prefix + ".first", first);
    writer_.add(prefix + ".bone", bones);
    writer_.add(prefix + ".weight", column_of(weights));
  }

  void wire(const std::string& prefix, const Wire& wire, std::span<const Index> vertices) {
    kind(prefix, "wire");
    std::vector<Index> handles;
    MatX bindings(15, std::ssize(vertices));
    for (std::size_t k = 0; k < vertices.size(); ++k) {
      const Wire::Binding& b = wire.bindings_[to_size(vertices[k])];
      const bool idle = b.weight == 0;  // such a binding may never have been filled
      for (const Index handle : b.handle) handles.push_back(idle ? 0 : handle);
      if (idle)
        bindings.col(static_cast<Eigen::Index>(k)).setZero();
      else
        bindings.col(static_cast<Eigen::Index>(k)) << b.value, b.slope, b.point, b.tangent, b.weight;
    }
    writer_.add(prefix + ".handles", handles);
    writer_.add(prefix + ".bindings", bindings);
  }

  ArchiveWriter& writer_;
};

// ---- in -------------------------------------------------------------------------------------------------------------

class RigArchive::Input {
 public:
  explicit Input(ArchiveReader& reader) : reader_(reader) {}

  /// `count` of vertices; `any`: as many as there are.
  std::shared_ptr<const Rig> rig(const std::string& prefix, Eigen::Index count) {
    const std::string kind = reader_.text(prefix + ".kind");
    std::shared_ptr<const Rig> found;
    if (!reader_.ok()) return found;
    if (kind == "carried") return carried(prefix, count);
    if (kind == "corrected") return corrected(prefix, count);
    if (kind == "stack") return stack(prefix, count);
    reader_.misfit(prefix + ".kind");
    return found;
  }

 private:
  std::shared_ptr<const Rig> carried(const std::string& prefix, Eigen::Index count) {
    constexpr int neighbours = SurfaceCarry::neighbours;
    std::vector<Vec3> rest = reader_.points(prefix + ".rest", count);
    const auto points = std::ssize(rest);
    const MatX weights = reader_.matrix(prefix + ".weights", neighbours, points);
    const std::vector<Index> vertices = reader_.indices(prefix + ".vertices", neighbours * points, no_limit);
    if (!reader_.ok()) return {};
    const Index most = vertices.empty() ? 0 : *std::max_element(vertices.begin(), vertices.end()) + 1;
    std::shared_ptr<const Rig> surface = rig(prefix + ".surface", most);
    if (!surface) return {};
    SurfaceCarry carry;
    for (std::size_t v = 0; v < rest.size(); ++v) {
      auto& vertex = carry.vertex.emplace_back();
      auto& weight = carry.weight.emplace_back();
      for (std::size_t k = 0; k < neighbours; ++k) {
        vertex[k] = vertices[v * neighbours + k];
        weight[k] = weights(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(v));
      }
    }
    return std::make_shared<const CarriedRig>(std::move(surface), std::move(carry), std::move(rest));
  }

  std::shared_ptr<const Rig> corrected(const std::string& prefix, Eigen::Index count) {
    std::shared_ptr<const Rig> base = rig(prefix + ".base", count);
    if (!base) return {};
    const MatX poses = reader_.matrix(prefix + ".poses", base->layout().size(), ArchiveReader::any);
    if (poses.cols() > most_poses) reader_.misfit(prefix + ".poses");
    ShapeTable table = shapes(prefix, base->vertex_count(), static_cast<Index>(poses.cols()));
    if (!reader_.ok()) return {};
    std::vector<std::vector<double>> columns;
    for (Eigen::Index i = 0; i < poses.cols(); ++i) columns.emplace_back(poses.col(i).begin(), poses.col(i).end());
    Result<PoseSpaceWeights> weights = PoseSpaceWeights::create(base->layout(), std::move(columns));
    if (!weights.ok()) {
      reader_.note(weights.error());
      return {};
    }
    return std::shared_ptr<const Rig>(new PoseSpaceRig(std::move(base), std::move(*weights), std::move(table)));
  }

  std::shared_ptr<const Rig> stack(const std::string& prefix, Eigen::Index count) {
    std::vector<Vec3> rest = reader_.points(prefix + ".rest", count);
    std::vector<DeformerPtr> stages = this->stages(prefix, static_cast<Index>(rest.size()));
    if (!reader_.ok()) return {};
    return std::make_shared<const StackRig>(std::move(rest), std::move(stages));
  }

  std::vector<DeformerPtr> stages(const std::string& prefix, Index vertices) {
    std::vector<DeformerPtr> stages;
    const Index count = reader_.index(prefix + ".stages", no_limit);
    for (Index k = 0; k < count && reader_.ok(); ++k) stages.push_back(stage(stage_name(prefix, to_size(k)), vertices));
    return stages;
  }

  DeformerPtr stage(const std::string& prefix, Index vertices) {
    const std::string kind = reader_.text(prefix + ".kind");
    if (!reader_.ok()) return {};
    if (kind == "sum") {
      std::vector<DeformerPtr> parts = stages(prefix, vertices);
      return reader_.ok() ? std::make_shared<const SumDeformer>(std::move(parts)) : nullptr;
    }
    PoseLayout layout = read_layout(reader_, prefix);
    if (!reader_.ok()) return {};
    if (kind == "skin") return skin(prefix, std::move(layout), vertices);
    if (kind == "wire") return wire(prefix, std::move(layout), vertices);
    if (kind == "shapes") {
      std::shared_ptr<BlendShapes> blend(new BlendShapes);
      blend->shapes_ = shapes(prefix, vertices, layout.size());
      blend->layout_ = std::move(layout);
      return blend;
    }
    if (kind == "bend" && layout.size() == 1) {
      const MatX frame = reader_.matrix(prefix + ".frame", 3, 5);
      if (!reader_.ok()) return {};
      std::shared_ptr<Bend> bend(new Bend);
      bend->origin_ = frame.col(0);
      bend->frame_ = frame.middleCols<3>(1);
      bend->length_ = frame(0, 4);
      bend->layout_ = std::move(layout);
      return bend;
    }
    reader_.misfit(prefix + ".kind");
    return {};
  }

  ShapeTable shapes(const std::string& prefix, Index vertices, Index count) {
    ShapeTable table;
    const std::vector<Vec3> displacements = reader_.points(prefix + ".displacements", ArchiveReader::any);
    const std::vector<Index> shape = reader_.indices(prefix + ".shape", std::ssize(displacements), count);
    table.first_ = reader_.indices(prefix + ".first", Eigen::Index{vertices} + 1, no_limit);
    if (!cuts_up(table.first_, shape.size())) reader_.misfit(prefix + ".first");
    for (std::size_t e = 0; e < shape.size(); ++e) table.entries_.push_back({displacements[e], shape[e]});
    return table;
  }

  DeformerPtr skin(const std::string& prefix, PoseLayout layout, Index vertices) {
    std::shared_ptr<SkinDeformer> skin(new SkinDeformer);
    skin->method_ = static_cast<SkinningMethod>(reader_.index(prefix + ".method", 2));
    skin->common_scale_ = reader_.number(prefix + ".common_scale");
    slots(prefix, *skin);
    const std::vector<Index> bones =
        reader_.indices(prefix + ".bones", ArchiveReader::any, static_cast<Index>(skin->slots_.size()));
    const MatX binds = reader_.matrix(prefix + ".binds", 15, std::ssize(bones));
    const std::vector<Index> parameters =
        reader_.indices(prefix + ".parameters", std::ssize(layout.groups), static_cast<Index>(skin->slots_.size()));
    if (!reader_.ok()) return {};
    for (std::size_t b = 0; b < bones.size(); ++b) {
      const VecX numbers = binds.col(static_cast<Eigen::Index>(b));
      SkinDeformer::SlotBone& bone = skin->bones_.emplace_back();
      bone.slot = bones[b];
      bone.inverse_bind.matrix() = numbers.head<12>().reshaped(3, 4);
      bone.centre = numbers.tail<3>();
    }
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      const ParameterGroup& group = layout.groups[k];
      if (group.kind == ParameterKind::scalar) reader_.misfit(prefix + ".kinds");
      const ChannelTarget target = group.kind == ParameterKind::rotation      ? ChannelTarget::rotation
                                   : group.kind == ParameterKind::translation ? ChannelTarget::translation
                                                                              : ChannelTarget::scale;
      skin->parameters_.push_back({parameters[k], target, group.first});
    }
    influences(prefix, vertices, *skin);
    skin->layout_ = std::move(layout);
    return skin;
  }

  void slots(const std::string& prefix, SkinDeformer& skin) {
    const std::vector<Index> parents = reader_.indices(prefix + ".joints", ArchiveReader::any, no_limit, 1, -1);
    const auto count = std::ssize(parents);
    const std::vector<Index> moves = reader_.indices(prefix + ".moves", count, 2);
    const MatX rest = reader_.matrix(prefix + ".joint_rest", transform_size, count);
    const MatX local = reader_.matrix(prefix + ".joint_local", 12, count);
    if (!reader_.ok()) return;
    for (std::size_t s = 0; s < parents.size(); ++s) {
      if (parents[s] >= static_cast<Index>(s)) return reader_.misfit(prefix + ".joints");
      SkinDeformer::Slot& slot = skin.slots_.emplace_back();
      slot.parent = parents[s];
      slot.rest = transform_of(rest.col(static_cast<Eigen::Index>(s)));
      slot.local.matrix() = local.col(static_cast<Eigen::Index>(s)).reshaped(3, 4);
      slot.moves = moves[s] != 0;
    }
  }

  void influences(const std::string& prefix, Index vertices, SkinDeformer& skin) {
    const std::vector<Index> bones =
        reader_.indices(prefix + ".bone", ArchiveReader::any, static_cast<Index>(skin.bones_.size()));
    const MatX weights = reader_.matrix(prefix + ".weight", std::ssize(bones), 1);
    skin.first_influence_ = reader_.indices(prefix + ".first", Eigen::Index{vertices} + 1, no_limit);
    if (!cuts_up(skin.first_influence_, bones.size())) reader_.misfit(prefix + ".first");
    if (!reader_.ok()) return;
    for (std::size_t e = 0; e < bones.size(); ++e)
      skin.influences_.push_back({weights(static_cast<Eigen::Index>(e)), bones[e]});
  }

  DeformerPtr wire(const std::string& prefix, PoseLayout layout, Index vertices) {
    const MatX bindings = reader_.matrix(prefix + ".bindings", 15, vertices);
    const std::vector<Index> handles =
        reader_.indices(prefix + ".handles", 4 * Eigen::Index{vertices}, layout.size() / 4);
    if (layout.size() % 4 != 0) reader_.misfit(prefix + ".neutral");
    if (!reader_.ok()) return {};
    std::shared_ptr<Wire> wire(new Wire);
    for (std::size_t v = 0; v < to_size(vertices); ++v) {
      const VecX numbers = bindings.col(static_cast<Eigen::Index>(v));
      Wire::Binding& b = wire->bindings_.emplace_back();
      std::copy_n(handles.begin() + static_cast<std::ptrdiff_t>(4 * v), 4, b.handle.begin());
      b.value = numbers.head<4>();
      b.slope = numbers.segment<4>(4);
      b.point = numbers.segment<3>(8);
      b.tangent = numbers.segment<3>(11);
      b.weight = numbers[14];
    }
    wire->layout_ = std::move(layout);
    return wire;
  }

  ArchiveReader& reader_;
};

Status RigArchive::write(ArchiveWriter& writer, const std::string& prefix, const Rig& rig,
                         std::span<const Index> vertices) {
  return Output(writer).rig(prefix, rig, vertices);
}

Status RigArchive::write(ArchiveWriter& writer, const std::string& prefix, const Rig& rig) {
  std::vector<Index> all(to_size(rig.vertex_count()));
  std::iota(all.begin(), all.end(), 0);
  return write(writer, prefix, rig, all);
}

std::shared_ptr<const Rig> RigArchive::read(ArchiveReader& reader, const std::string& prefix) {
  std::shared_ptr<const Rig> rig = Input(reader).rig(prefix, ArchiveReader::any);
  return reader.ok() ? rig : nullptr;
}

void add_pose_weights(ArchiveWriter& writer, const std::string& name, const std::optional<PoseSpaceWeights>& poses) {
  writer.add_number(name + ".several", static_cast<Index>(poses ? 1 : 0));
  if (!poses) return;
  MatX columns(poses->layout().size(), poses->pose_count());
  for (Index i = 0; i < poses->pose_count(); ++i)
    columns.col(i) = Eigen::Map<const VecX>(poses->pose(i).data(), columns.rows());
  writer.add(name, columns);
}

std::optional<PoseSpaceWeights> read_pose_weights(ArchiveReader& reader, const std::string& name,
                                                  const PoseLayout& layout) {
  if (reader.index(name + ".several", 2) == 0) return {};
  const MatX columns = reader.matrix(name, layout.size(), ArchiveReader::any);
  if (columns.cols() > RigArchive::most_poses) reader.misfit(name);
  if (!reader.ok()) return {};
  std::vector<std::vector<double>> poses;
  for (Eigen::Index i = 0; i < columns.cols(); ++i) poses.emplace_back(columns.col(i).begin(), columns.col(i).end());
  Result<PoseSpaceWeights> weights = PoseSpaceWeights::create(layout, std::move(poses));
  if (weights.ok()) return std::move(*weights);
  reader.note(weights.error());
  return {};
}

}  // namespace supple
