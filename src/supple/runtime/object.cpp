// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/object.h"

#include "supple/asset/domain_archive.h"
#include "supple/asset/subspace_archive.h"
#include "supple/rig/pose_layout.h"
#include "supple/runtime/domains/domain_dynamics.h"
#include "supple/runtime/step_clock.h"
#include "supple/runtime/subspace/floating_body.h"
#include "supple/runtime/subspace/subspace_dynamics.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <numeric>
#include <optional>

namespace supple {
namespace {

constexpr double longest_pause = 0.25;  // [s] that one call simulates at most

std::vector<Index> first_numbers(Index count) {
  std::vector<Index> all(to_size(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

bool is_finite(const std::array<float, 3>& x) {
  return std::isfinite(x[0]) && std::isfinite(x[1]) && std::isfinite(x[2]);
}
Vec3 to_vector(const std::array<float, 3>& x) { return {x[0], x[1], x[2]}; }

}  // namespace

// ---- what is shared -------------------------------------------------------------------------------------------------

struct ObjectData {
  explicit ObjectData(SubspaceModel loaded)
      : model(std::move(loaded)),
        rows(model.surface.basis, first_numbers(model.surface.vertex_count())),
        mass(mass_moments(model).volume),  // moments of density one, times the density
        gravity(model.size(), 3),
        rest(model.surface.rest_positions),
        size(model.size()),
        anchored(model.anchored()) {
    for (int axis = 0; axis < 3; ++axis) gravity.col(axis) = reduced_gravity(model, Vec3::Unit(axis));
    for (const Triangle& t : model.surface.triangles) triangles.insert(triangles.end(), t.begin(), t.end());
  }

  ObjectData(const DomainModel& domains, PreparedTree prepared)
      : mass(domains.mass()),
        rest(supple::rest_positions(domains)),
        size(domains.size()),
        anchored(domains.anchored()),
        tree(std::make_shared<const PreparedTree>(std::move(prepared))) {
    for (const Triangle& t : domains.surface.triangles) triangles.insert(triangles.end(), t.begin(), t.end());
  }

  SubspaceModel model;     ///< of one part …
  BasisRows<double> rows;  ///< … and its surface
  double mass;
  MatX gravity;  ///< Uᵀ M g for g along each axis
  std::vector<Vec3> rest;
  Index size;
  bool anchored;
  std::vector<Index> triangles;
  std::shared_ptr<const PreparedTree> tree;  ///< of many parts
};

namespace {

/// One part or many, as the archive says.
Result<std::shared_ptr<const ObjectData>> decode_object(const Archive& archive) {
  if (archive.kind() == "domains") {
    const Result<DomainModel> domains = decode_domain_model(archive);
    SUPPLE_RETURN_IF_ERROR(domains);
    Result<PreparedTree> tree = prepare_tree(*domains);
    SUPPLE_RETURN_IF_ERROR(tree);
    return std::make_shared<const ObjectData>(*domains, std::move(*tree));
  }
  Result<SubspaceModel> model = decode_subspace_model(archive);
  SUPPLE_RETURN_IF_ERROR(model);
  return std::make_shared<const ObjectData>(std::move(*model));
}

}  // namespace

Result<Object> Object::load(const std::string& path) {
  const Result<Archive> archive = Archive::open(path);
  SUPPLE_RETURN_IF_ERROR(archive);
  Result<std::shared_ptr<const ObjectData>> data = decode_object(*archive);
  if (!data.ok()) return Error{data.error().kind, path + ": " + data.error().message};
  return Object(std::move(*data));
}

Result<Object> Object::load(std::span<const std::byte> bytes, const std::string& name) {
  std::vector<double> aligned(bytes.size() / sizeof(double) + 1);
  std::memcpy(aligned.data(), bytes.data(), bytes.size());
  const Result<Archive> archive =
      Archive::parse({reinterpret_cast<const std::byte*>(aligned.data()), bytes.size()}, name);
  SUPPLE_RETURN_IF_ERROR(archive);
  Result<std::shared_ptr<const ObjectData>> data = decode_object(*archive);
  if (!data.ok()) return Error{data.error().kind, name + ": " + data.error().message};
  return Object(std::move(*data));
}

bool Object::anchored() const { return data_->anchored; }
int Object::coordinate_count() const { return data_->size; }
int Object::domain_count() const { return data_->tree ? static_cast<int>(data_->tree->part.size()) : 1; }
double Object::mass() const { return data_->mass; }
int Object::vertex_count() const { return static_cast<int>(data_->rest.size()); }
std::span<const std::int32_t> Object::triangles() const { return data_->triangles; }

void Object::rest_positions(std::span<float> xyz) const {
  const std::vector<Vec3>& rest = data_->rest;
  for (std::size_t v = 0; v < rest.size() && 3 * v + 3 <= xyz.size(); ++v)
    for (std::size_t i = 0; i < 3; ++i) xyz[3 * v + i] = static_cast<float>(rest[v][static_cast<Eigen::Index>(i)]);
}

void Object::basis(std::span<float> rows) const {
  const MatX& basis = data_->model.surface.basis;
  const auto r = to_size(basis.cols());
  for (std::size_t k = 0; k < to_size(basis.rows()) && (k + 1) * r <= rows.size(); ++k)
    for (std::size_t c = 0; c < r; ++c)
      rows[k * r + c] = static_cast<float>(basis(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(c)));
}

// ---- one on the stage -----------------------------------------------------------------------------------------------

struct ObjectStateData {
  /// A moment that can be shown.
  struct Moment {
    Vec3 position = Vec3::Zero();
    Quat orientation = Quat::Identity();
    std::vector<double> q;
  };

  ObjectStateData(const Object& shared, const ObjectSettings& chosen)
      : object(shared), settings(chosen), clock(chosen.time_step), forces(to_size(chosen.most_forces)) {
    const auto r = to_size(object.coordinate_count());
    for (Moment* moment : {&before, &after, &shown}) moment->q.assign(r, 0.0);
    for (auto* values : {&weight, &load}) values->assign(r, 0.0);
    u.assign(3 * to_size(object.vertex_count()), 0.0);
    saved.q = saved.velocity = saved.acceleration = weight;
  }

  const SubspaceModel& model() const { return object.data().model; }
  void set_gravity(const Vec3& gravity);
  RootMotion root_at(const Moment& moment) const;
  void push_domains();
  void aim(int steps);
  void carry_root(int step, int steps);
  void read(Moment& moment) const;
  bool step();
  void show();
  void find_displacements();
  void exchange(StateBytes& bytes);

  Object object;
  ObjectSettings settings;
  StepClock clock;
  std::optional<SubspaceDynamics<double>> anchored;
  std::optional<FloatingBody> floating;
  std::optional<DomainDynamics> domains;
  Moment before, after, shown;  ///< the last step's start and end, and what lies between
  std::vector<double> weight;   ///< of the body in its coordinates, where it is anchored
  std::vector<double> load;
  std::vector<VertexForce> forces;
  std::size_t force_count = 0;
  std::vector<double> u;
  SubspaceState<double> saved;
  /// What holds the domains: where it was and is to be, and how it moves; `turn` is the rotation between the two.
  struct Carried {
    struct Place {
      Vec3 position = Vec3::Zero();
      Quat orientation = Quat::Identity();
    } from, to;
    Vec3 velocity = Vec3::Zero(), spin = Vec3::Zero();
    Vec3 turn = Vec3::Zero();
    bool given = false, moves = false;
  } carried;
};

void ObjectStateData::set_gravity(const Vec3& gravity) {
  if (domains) return domains->set_gravity(gravity);
  if (floating) return floating->set_gravity(gravity);
  Eigen::Map<VecX>(weight.data(), std::ssize(weight)).noalias() = object.data().gravity.lazyProduct(gravity);
}

/// Where the root's frame is when the object is there: at rest it has a place of its own.
RootMotion ObjectStateData::root_at(const Moment& moment) const {
  RootMotion root;
  const Mat3 turn = moment.orientation.toRotationMatrix();
  root.rotation = turn * domains->tree().root_rotation;
  root.position = moment.position + turn * domains->tree().root_position;
  return root;
}

/// A vertex of the surface may be the mean of several; each takes its share.
void ObjectStateData::push_domains() {
  const DomainSurface& shown_surface = domains->tree().surface;
  domains->clear_forces();
  for (const VertexForce& push : std::span(forces).first(force_count)) {
    const auto v = to_size(push.vertex);
    const Index first = shown_surface.first[v], end = shown_surface.first[v + 1];
    for (auto k = to_size(first); k < to_size(end); ++k)
      domains->add_force(shown_surface.domain[k], shown_surface.vertex[k],
                         shown_surface.weight_of(v, k) * to_vector(push.force));
  }
}

void ObjectStateData::read(Moment& moment) const {
  if (domains) {
    std::copy(domains->coordinates().begin(), domains->coordinates().end(), moment.q.begin());
    const RootMotion& root = domains->root();
    const Mat3 turn = root.rotation * domains->tree().root_rotation.transpose();
    moment.orientation = Quat(turn);
    moment.position = root.position - turn * domains->tree().root_position;
    return;
  }
  if (anchored) {
    std::copy(anchored->state().q.begin(), anchored->state().q.end(), moment.q.begin());
    return;
  }
  moment.position = floating->state().position;
  moment.orientation = floating->state().orientation;
  std::copy(floating->state().q.begin(), floating->state().q.end(), moment.q.begin());
}

/// How the base gets where it is carried within so many steps.
void ObjectStateData::aim(int steps) {
  carried.moves = carried.given || carried.velocity.squaredNorm() + carried.spin.squaredNorm() > 0;
  if (!carried.moves || steps == 0) return;
  const Eigen::AngleAxisd turn(carried.to.orientation * carried.from.orientation.conjugate());
  const double angle = std::remainder(turn.angle(), 2 * std::numbers::pi);
  carried.turn = angle * turn.axis();
}

/// The cubic path from the base's place and velocity to where it is carried, which it reaches with the mean velocity.
void ObjectStateData::carry_root(int step, int steps) {
  const double T = steps * clock.time_step(), s = static_cast<double>(step + 1) / steps;
  struct Path {
    Vec3 at, rate, bend;
  };
  const auto path = [&](const Vec3& way, const Vec3& start) {
    const Vec3 off = T * start - way;  // what the start is too fast by; s (1 − s)² of it
    return Path{s * way + s * (1 - s) * (1 - s) * off, (way + (1 - s) * (1 - 3 * s) * off) / T,
                (6 * s - 4) * off / (T * T)};
  };
  const Path place = path(carried.to.position - carried.from.position, carried.velocity);
  const Path turn = path(carried.turn, carried.spin);
  const double angle = turn.at.norm();
  Moment moment;
  moment.position = carried.from.position + place.at;
  moment.orientation = carried.from.orientation;
  if (angle > 0) moment.orientation = Quat(Eigen::AngleAxisd(angle, turn.at / angle)) * carried.from.orientation;
  RootMotion root = root_at(moment);
  // The root's frame has a place of its own in the object.
  const Vec3 arm = root.position - moment.position;
  root.velocity = place.rate + turn.rate.cross(arm);
  root.acceleration = place.bend + turn.bend.cross(arm) + turn.rate.cross(turn.rate.cross(arm));
  root.angular_velocity = turn.rate;
  root.angular_acceleration = turn.bend;
  domains->set_root(root);
  if (step + 1 < steps) return;
  carried.velocity = carried.given ? place.rate : Vec3(Vec3::Zero());
  carried.spin = carried.given ? turn.rate : Vec3(Vec3::Zero());
  carried.from = carried.to;
  carried.given = false;
}

bool ObjectStateData::step() {
  if (domains) {
    push_domains();
    return !domains->step().recovered;
  }
  const auto acting = std::span(forces).first(force_count);
  if (floating) {
    for (const VertexForce& push : acting) floating->add_force(push.vertex, to_vector(push.force));
    return !floating->step().recovered;
  }
  std::copy(weight.begin(), weight.end(), load.begin());
  for (const VertexForce& push : acting) {
    const double force[3] = {push.force[0], push.force[1], push.force[2]};
    object.data().rows.add_force(push.vertex, force, load);
  }
  return !anchored->step(load).recovered;
}

/// Between the last two states, where the display's time is.
void ObjectStateData::show() {
  const double s = clock.fraction();
  shown.position = (1 - s) * before.position + s * after.position;
  shown.orientation = before.orientation.slerp(s, after.orientation);
  for (std::size_t c = 0; c < shown.q.size(); ++c) shown.q[c] = (1 - s) * before.q[c] + s * after.q[c];
}

/// In the frame of the object.
void ObjectStateData::find_displacements() {
  if (!domains) return object.data().rows.displacements(shown.q, u);
  domains->show(shown.q, root_at(shown));
  domains->surface_positions(u);
  const Mat3 turn = shown.orientation.toRotationMatrix();
  const std::vector<Vec3>& rest = object.data().rest;
  for (std::size_t v = 0; v < rest.size(); ++v) {
    Eigen::Map<Vec3> x(&u[3 * v]);
    x = turn.transpose() * (x - shown.position) - rest[v];
  }
}

void ObjectStateData::exchange(StateBytes& bytes) {
  if (floating) floating->exchange(bytes);
  if (domains) domains->exchange(bytes);
  if (anchored) {
    if (!bytes.restores()) {
      const SubspaceState<double>& now = anchored->state();
      std::copy(now.q.begin(), now.q.end(), saved.q.begin());
      std::copy(now.velocity.begin(), now.velocity.end(), saved.velocity.begin());
      std::copy(now.acceleration.begin(), now.acceleration.end(), saved.acceleration.begin());
      saved.time = now.time;
    }
    for (auto* values : {&saved.q, &saved.velocity, &saved.acceleration}) bytes(*values);
    bytes(saved.time);
    if (bytes.restores()) anchored->set_state(saved);
  }
  for (Moment* moment : {&before, &after, &shown}) {
    bytes(moment->position);
    bytes(moment->orientation);
    bytes(moment->q);
  }
  bytes(carried.from);
  bytes(carried.to);
  for (Vec3* rate : {&carried.velocity, &carried.spin}) bytes(*rate);
  bytes(carried.given);
  bytes(clock);
  bytes(weight);
  bytes(forces);
  bytes(force_count);
}

namespace {

struct SavedObject {
  std::array<char, 8> magic = {'S', 'U', 'P', 'O', 'B', 'J', 'C', '1'};
  std::uint64_t size = 0, coordinates = 0, vertices = 0, free = 0;
  double time_step = 0;

  bool operator==(const SavedObject&) const = default;
};

SavedObject saved_header(ObjectStateData& data) {
  StateBytes count;
  data.exchange(count);
  SavedObject header;
  header.size = sizeof(SavedObject) + count.size();
  header.coordinates = static_cast<std::uint64_t>(data.object.coordinate_count());
  header.vertices = static_cast<std::uint64_t>(data.object.vertex_count());
  header.free = data.object.anchored() ? 0 : 1;
  header.time_step = data.clock.time_step();
  return header;
}

Status start(ObjectStateData& data) {
  const ObjectSettings& chosen = data.settings;
  if (data.object.data().tree) {
    DomainSettings settings;
    settings.time_step = chosen.time_step;
    settings.mass_damping = chosen.mass_damping;
    settings.stiffness_damping = chosen.stiffness_damping;
    settings.most_forces = 8 * chosen.most_forces;  // a vertex may have copies in several domains
    Result<DomainDynamics> dynamics = DomainDynamics::create(data.object.data().tree, settings);
    SUPPLE_RETURN_IF_ERROR(dynamics);
    data.domains.emplace(std::move(*dynamics));
  } else if (data.model().anchored()) {
    SubspaceSettings settings;
    settings.time_step = chosen.time_step;
    settings.mass_damping = chosen.mass_damping;
    settings.stiffness_damping = chosen.stiffness_damping;
    Result<SubspaceDynamics<double>> dynamics = SubspaceDynamics<double>::create(data.model(), settings);
    SUPPLE_RETURN_IF_ERROR(dynamics);
    data.anchored = std::move(*dynamics);
  } else {
    FloatingSettings settings;
    settings.time_step = chosen.time_step;
    settings.mass_damping = chosen.mass_damping;
    settings.stiffness_damping = chosen.stiffness_damping;
    settings.max_point_forces = chosen.most_forces;
    Result<FloatingBody> body = FloatingBody::create(data.model(), settings);
    SUPPLE_RETURN_IF_ERROR(body);
    data.floating = std::move(*body);
  }
  data.set_gravity(to_vector(chosen.gravity));
  return {};
}

}  // namespace

ObjectState::ObjectState(std::unique_ptr<ObjectStateData> data) : data_(std::move(data)) {}
ObjectState::ObjectState(ObjectState&&) noexcept = default;
ObjectState& ObjectState::operator=(ObjectState&&) noexcept = default;
ObjectState::~ObjectState() = default;

Result<ObjectState> ObjectState::create(const Object& object, const ObjectSettings& settings) {
  if (!(settings.time_step > 0 && settings.time_step <= 0.1) || settings.most_forces < 0 ||
      !is_finite(settings.gravity))
    return input_error(
        "an object's time step must be above zero and at most 0.1 s, its gravity finite, and it can't hold fewer than "
        "no forces; change the settings of the state");
  auto data = std::make_unique<ObjectStateData>(object, settings);
  SUPPLE_RETURN_IF_ERROR(start(*data));
  return ObjectState(std::move(data));
}

const Object& ObjectState::object() const { return data_->object; }

void ObjectState::set_forces(std::span<const VertexForce> forces) {
  data_->force_count = 0;
  for (const VertexForce& force : forces) {
    const bool sound = force.vertex >= 0 && force.vertex < object().vertex_count() && is_finite(force.force);
    if (sound && data_->force_count < data_->forces.size()) data_->forces[data_->force_count++] = force;
  }
}

void ObjectState::set_gravity(const std::array<float, 3>& acceleration) {
  if (is_finite(acceleration)) data_->set_gravity(to_vector(acceleration));
}

void ObjectState::set_wind(const std::array<float, 3>& velocity, double gusts, double turbulence) {
  if (!data_->domains || !is_finite(velocity) || !(gusts >= 0) || !(turbulence >= 0)) return;
  WindField wind;
  wind.velocity = to_vector(velocity);
  wind.gusts = gusts;
  wind.turbulence = turbulence;
  data_->domains->set_wind(wind);
}

void ObjectState::set_frequency(int domain, double factor) {
  if (data_->domains) data_->domains->set_frequency(domain, factor);
}

void ObjectState::set_jobs(JobLoop loop, void* user) {
  if (data_->domains) data_->domains->set_jobs(loop, user);
}

void ObjectState::place(const ObjectPlace& place, const std::array<float, 3>& velocity,
                        const std::array<float, 3>& angular_velocity) {
  if (data_->domains && !object().anchored() && is_finite(place.position) && is_finite(velocity) &&
      is_finite(angular_velocity)) {
    const std::array<double, 4> turn = {place.rotation[0], place.rotation[1], place.rotation[2], place.rotation[3]};
    data_->domains->reset();
    ObjectStateData::Moment there;
    there.position = to_vector(place.position);
    there.orientation = unit_quaternion(turn.data());
    RootMotion root = data_->root_at(there);
    root.angular_velocity = to_vector(angular_velocity);
    root.velocity = to_vector(velocity) + root.angular_velocity.cross(root.position - there.position);
    data_->domains->set_root(root);
    data_->clock = StepClock(data_->clock.time_step());
    for (auto* moment : {&data_->before, &data_->after}) data_->read(*moment);
    return data_->show();
  }
  const std::array<double, 4> xyzw = {place.rotation[0], place.rotation[1], place.rotation[2], place.rotation[3]};
  if (!data_->floating || !is_finite(place.position) || !is_finite(velocity) || !is_finite(angular_velocity)) return;
  data_->floating->reset(to_vector(place.position), unit_quaternion(xyzw.data()));
  data_->floating->set_velocity(
      {to_vector(velocity), to_vector(angular_velocity), VecX::Zero(object().coordinate_count())});
  data_->clock = StepClock(data_->clock.time_step());
  for (auto* moment : {&data_->before, &data_->after}) data_->read(*moment);
  data_->show();
}

void ObjectState::carry(const ObjectPlace& place) {
  if (!data_->domains || !object().anchored() || !is_finite(place.position)) return;
  const std::array<double, 4> turn = {place.rotation[0], place.rotation[1], place.rotation[2], place.rotation[3]};
  data_->carried.to = {to_vector(place.position), unit_quaternion(turn.data())};
  data_->carried.given = true;
}

ObjectReport ObjectState::advance(double seconds) {
  ObjectReport report;
  if (!(seconds > 0)) return report;
  report.steps = data_->clock.advance(std::min(seconds, longest_pause));
  const bool held = data_->domains && object().anchored();
  if (held) data_->aim(report.steps);
  for (int k = 0; k < report.steps; ++k) {
    std::swap(data_->before, data_->after);
    if (held && data_->carried.moves) data_->carry_root(k, report.steps);
    if (!data_->step()) report.recovered = true;
    data_->read(data_->after);
  }
  data_->show();
  return report;
}

void ObjectState::reset() {
  if (data_->anchored) data_->anchored->reset();
  if (data_->floating) data_->floating->reset();
  if (data_->domains) data_->domains->reset();
  data_->carried = {};
  data_->clock = StepClock(data_->clock.time_step());
  for (auto* moment : {&data_->before, &data_->after}) data_->read(*moment);
  data_->show();
}

std::size_t ObjectState::saved_size() const { return saved_header(*data_).size; }

bool ObjectState::save(std::span<std::byte> buffer) const {
  const SavedObject header = saved_header(*data_);
  if (buffer.size() < header.size) return false;
  std::memcpy(buffer.data(), &header, sizeof header);
  StateBytes bytes = StateBytes::saving(buffer.subspan(sizeof header));
  data_->exchange(bytes);
  return true;
}

bool ObjectState::restore(std::span<const std::byte> buffer) {
  SavedObject header;
  const SavedObject expected = saved_header(*data_);
  if (buffer.size() < expected.size) return false;
  std::memcpy(&header, buffer.data(), sizeof header);
  if (!(header == expected)) return false;
  StateBytes bytes = StateBytes::restoring(buffer.subspan(sizeof header));
  data_->exchange(bytes);
  return true;
}

ObjectPlace ObjectState::place() const {
  ObjectPlace place;
  for (Eigen::Index i = 0; i < 3; ++i) place.position[to_size(i)] = static_cast<float>(data_->shown.position[i]);
  for (Eigen::Index i = 0; i < 4; ++i)
    place.rotation[to_size(i)] = static_cast<float>(data_->shown.orientation.coeffs()[i]);
  return place;
}

void ObjectState::coordinates(std::span<float> q) const {
  for (std::size_t c = 0; c < std::min(q.size(), data_->shown.q.size()); ++c)
    q[c] = static_cast<float>(data_->shown.q[c]);
}

void ObjectState::displacements(std::span<float> xyz) {
  data_->find_displacements();
  for (std::size_t k = 0; k < std::min(xyz.size(), data_->u.size()); ++k) xyz[k] = static_cast<float>(data_->u[k]);
}

void ObjectState::positions(std::span<float> xyz) {
  data_->find_displacements();
  const Mat3 turn = data_->shown.orientation.toRotationMatrix();
  const std::vector<Vec3>& rest = object().data().rest;
  for (std::size_t v = 0; v < rest.size() && 3 * v + 3 <= xyz.size(); ++v) {
    const Vec3 x = data_->shown.position + turn * (rest[v] + Eigen::Map<const Vec3>(&data_->u[3 * v]));
    for (Eigen::Index i = 0; i < 3; ++i) xyz[3 * v + to_size(i)] = static_cast<float>(x[i]);
  }
}

}  // namespace supple
