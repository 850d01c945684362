#include "posed/rest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <tuple>

#include "bvh/tree.hpp"

namespace bunraku::posed {
namespace {

constexpr float kStep = 0x1p-24f;       // half a unit in the last place of 1
// Intervals of weights bound lanes better than the union of boxes where few joints share the
// vertices evenly; the intersection of both is taken, so these only save time.
constexpr int kMostWeighted = 16;
constexpr float kMostWeight = 2.5f;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

// Where the influences of a vertex stand in a rig.
struct Place {
  std::int32_t run, at;
};

std::vector<Place> places_of(const Influences& rig) {
  std::vector<Place> places(at(rig.vertices()));
  for (std::size_t r = 0; r < rig.runs.size(); ++r) {
    for (std::int32_t i = rig.runs[r].begin; i < rig.runs[r].end; ++i) {
      places[at(rig.order[at(i)])] = {static_cast<std::int32_t>(r), i};
    }
  }
  return places;
}

std::span<const std::int32_t> slots_of(const Influences& rig, const Run& run) {
  return std::span(rig.slots).subspan(at(run.slots), at(run.width));
}

std::span<const float> weights_of(const Influences& rig, const Place& place) {
  const Run& run = rig.runs[at(place.run)];
  return std::span(rig.weights).subspan(at(run.weights + (place.at - run.begin) * run.width), at(run.width));
}

bool alike(const Influences& rig, const Run& a, const Run& b) {
  return a.heaviest == b.heaviest && std::ranges::equal(slots_of(rig, a), slots_of(rig, b));
}

// Lists of things with a key, merged into one thing per key. `Item` has `key` and `merge`.
template <typename Item>
class Merged {
 public:
  explicit Merged(std::size_t keys) : where_(keys, 0) {}

  void begin() { first_ = items.size(); }
  // The item of this key in the list begun last, or null.
  Item* find(std::int32_t key) {
    const std::size_t i = where_[at(key)];
    return i >= first_ && i < items.size() && items[i].key == key ? &items[i] : nullptr;
  }
  void add(const Item& item) {
    if (Item* const known = find(item.key)) return known->merge(item);
    where_[at(item.key)] = items.size();
    items.push_back(item);
  }
  std::span<Item> current() { return std::span(items).subspan(first_); }
  std::size_t first() const { return first_; }

  std::vector<Item> items;

 private:
  std::vector<std::size_t> where_;
  std::size_t first_ = 0;
};

struct Extent {
  float low[3], high[3];

  void grow(const Extent& other) {
    for (int k = 0; k < 3; ++k) {
      low[k] = std::min(low[k], other.low[k]);
      high[k] = std::max(high[k], other.high[k]);
    }
  }
};

// What a slot holds, before it is put as a Share. `parts` of a list have the slot.
struct Hold {
  std::int32_t key;
  Extent box;
  float least, most;
  int parts = 1;

  void merge(const Hold& other) {
    box.grow(other.box);
    least = std::min(least, other.least);
    most = std::max(most, other.most);
    ++parts;
  }
};

struct Moved {
  std::int32_t key;
  Extent box;

  void merge(const Moved& other) { box.grow(other.box); }
};

float up(double x) {
  return static_cast<float>(std::min(x * (1 + 0x1p-22), double{std::numeric_limits<float>::max()}));
}

void put_ball(const Extent& box, Lane& lane) {
  double square = 0;
  for (int k = 0; k < 3; ++k) {
    lane.centre[k] = static_cast<float>((double{box.low[k]} + box.high[k]) / 2);
    const double half = std::max(double{box.high[k]} - lane.centre[k], double{lane.centre[k]} - box.low[k]);
    square += half * half;
  }
  lane.radius = up(std::sqrt(square));
}

Share share_of(const Hold& hold, float rounding) {
  Share share;
  for (int k = 0; k < 3; ++k) {
    const double low = hold.box.low[k], high = hold.box.high[k];
    share.centre[k] = static_cast<float>((low + high) / 2);
    const double half = std::max(high - share.centre[k], share.centre[k] - low);
    share.half[k] = up(half + rounding * (std::fabs(share.centre[k]) + half));
  }
  share.weight = (hold.least + hold.most) / 2;
  // The sums over intervals round, too: by less than this for kMostWeighted joints.
  share.spread = std::max(hold.most - share.weight, share.weight - hold.least) + 64 * kStep;
  return share;
}

}  // namespace

RestTree::RestTree(const Influences& rig, const float* positions, std::span<const std::int32_t> faces,
                   std::span<const Target> targets)
    : triangles_(static_cast<std::int64_t>(faces.size() / 3)) {
  bvh::Source source{};
  source.kind = bvh::Kind::triangles;
  source.points = positions;
  source.faces = faces.data();
  source.point_count = rig.vertices();
  source.count = triangles_;
  const bvh::Tree tree(source, {});

  view_.joints = static_cast<std::int32_t>(rig.joints);
  for (const Run& run : rig.runs) view_.most_influences = std::max(view_.most_influences, run.width);
  // K weights times three coordinates and 4K steps of the sum, and as much again for the bound
  // itself.
  view_.rounding = static_cast<float>(10 * view_.most_influences + 16) * kStep;
  const std::vector<std::int32_t> vertices = copy_leaves(tree.view(), rig, positions);
  target_extent_.resize(targets.size());
  const bool any = std::ranges::any_of(targets, [](const Target& t) { return t.positions != nullptr && !t.vertices.empty(); });
  if (any) copy_morphs(targets, rig.vertices(), vertices);
  bound_lanes(tree.view());

  view_.nodes = nodes_.data();
  view_.lanes = lanes_.data();
  view_.shares = shares_.data();
  view_.slots = slots_.data();
  view_.morph_boxes = morph_boxes_.data();
  view_.leaves = leaves_.data();
  view_.positions = positions_.data();
  static constexpr std::int32_t kOrder[kCorners] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                                                    12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23};
  view_.influences = {leaf_runs_.data(), runs_.data(), kOrder, run_slots_.data(), weights_.data(), sums_.data(), nullptr};
  std::vector<std::int32_t> counts;
  for (const Leaf& leaf : leaves_) counts.push_back(leaf.count);
  panels_ = Panels(view_.influences, counts, true);
  view_.panels = panels_.view();
  view_.morph_first = any ? morph_first_.data() : nullptr;
  view_.morph_target = morph_target_.data();
  view_.morph_deltas = morph_deltas_.data();
  view_.node_count = static_cast<std::int64_t>(nodes_.size());
  view_.leaf_count = static_cast<std::int64_t>(leaves_.size());
}

// Returns the geometry's index of each leaf vertex. Vertices of a leaf are ordered so that those
// held by the same joints follow one another.
std::vector<std::int32_t> RestTree::copy_leaves(const bvh::TreeView& tree, const Influences& rig,
                                                const float* positions) {
  const std::vector<Place> places = places_of(rig);
  std::vector<std::int32_t> vertices;
  leaves_.resize(at(tree.packet_count));
  for (std::int64_t p = 0; p < tree.packet_count; ++p) {
    Leaf& leaf = leaves_[at(p)];
    std::vector<std::int32_t> own;
    for (int i = 0; i < kWidth; ++i) {
      leaf.primitive[i] = tree.packets[p].primitive[i];
      for (int c = 0; c < 3 && leaf.primitive[i] >= 0; ++c) own.push_back(tree.corners[p].vertex[c][i]);
    }
    const auto run_of = [&](std::int32_t v) -> const Run& { return rig.runs[at(places[at(v)].run)]; };
    std::ranges::sort(own, [&](std::int32_t a, std::int32_t b) {
      const Run &x = run_of(a), &y = run_of(b);
      if (&x != &y && !alike(rig, x, y)) {
        const auto s = slots_of(rig, x), t = slots_of(rig, y);
        if (!std::ranges::equal(s, t)) return std::ranges::lexicographical_compare(s, t);
        return x.heaviest < y.heaviest;
      }
      return a < b;
    });
    own.erase(std::unique(own.begin(), own.end()), own.end());
    leaf.first = static_cast<std::int32_t>(vertices.size());
    leaf.count = static_cast<std::int32_t>(own.size());
    for (int i = 0; i < kWidth; ++i) {
      for (int c = 0; c < 3; ++c) {
        const auto found = std::ranges::find(own, tree.corners[p].vertex[c][i]);
        leaf.corner[c][i] = leaf.primitive[i] < 0 ? 0 : static_cast<std::uint8_t>(found - own.begin());
      }
    }
    leaf_runs_.push_back(static_cast<std::int32_t>(runs_.size()));
    const Run* last = nullptr;
    for (std::size_t i = 0; i < own.size(); ++i) {
      const std::int32_t v = own[i];
      const Run& run = run_of(v);
      if (last == nullptr || !alike(rig, *last, run)) {
        const auto first = static_cast<std::int32_t>(i);
        runs_.push_back({first, first, static_cast<std::int32_t>(run_slots_.size()),
                         static_cast<std::int32_t>(weights_.size()), run.width, run.heaviest});
        const auto slots = slots_of(rig, run);
        run_slots_.insert(run_slots_.end(), slots.begin(), slots.end());
      }
      last = &run;
      ++runs_.back().end;
      const auto weights = weights_of(rig, places[at(v)]);
      weights_.insert(weights_.end(), weights.begin(), weights.end());
      sums_.push_back(std::accumulate(weights.begin(), weights.end(), 0.0f));
      for (int k = 0; k < 3; ++k) {
        const float x = positions[3 * std::int64_t{v} + k];
        positions_.push_back(x);
        view_.extent = std::max(view_.extent, std::fabs(x));
      }
      vertices.push_back(v);
    }
    if (weights_.size() > at(std::numeric_limits<std::int32_t>::max() - kCorners * view_.most_influences)) {
      throw std::length_error("more influences than 32-bit indices can count");
    }
  }
  leaf_runs_.push_back(static_cast<std::int32_t>(runs_.size()));
  return vertices;
}

void RestTree::copy_morphs(std::span<const Target> targets, std::int64_t vertices,
                           std::span<const std::int32_t> of_leaves) {
  std::vector<MorphDeltas> deltas;
  std::vector<std::int32_t> index;
  for (std::size_t t = 0; t < targets.size(); ++t) {
    if (targets[t].positions == nullptr) continue;
    deltas.push_back({targets[t].vertices, targets[t].positions, nullptr, nullptr});
    index.push_back(static_cast<std::int32_t>(t));
    for (std::size_t i = 0; i < 3 * targets[t].vertices.size(); ++i) {
      target_extent_[t] = std::max(target_extent_[t], std::fabs(targets[t].positions[i]));
    }
  }
  const ActiveMorphs by_vertex(deltas, vertices);
  morph_first_.push_back(0);
  for (const std::int32_t v : of_leaves) {
    for (auto e = at(by_vertex.first[at(v)]); e < at(by_vertex.first[at(v) + 1]); ++e) {
      morph_target_.push_back(index[at(by_vertex.weight[e])]);
      for (std::size_t k = 0; k < 3; ++k) morph_deltas_.push_back(by_vertex.positions[3 * e + k]);
    }
    if (morph_target_.size() > at(std::numeric_limits<std::int32_t>::max())) {
      throw std::length_error("more morph entries than 32-bit indices can count");
    }
    morph_first_.push_back(static_cast<std::int32_t>(morph_target_.size()));
  }
  for (const Leaf& leaf : leaves_) {
    const std::int32_t entries = morph_first_[at(leaf.first + leaf.count)] - morph_first_[at(leaf.first)];
    view_.most_morphs = std::max(view_.most_morphs, entries);
  }
}

// Children stand after their parents, so one reverse pass gathers what each lane's leaves hold.
void RestTree::bound_lanes(const bvh::TreeView& tree) {
  const bool morphs = !morph_first_.empty();
  nodes_.resize(at(tree.node_count));
  lanes_.resize(at(tree.node_count * kWidth));
  Merged<Hold> holds(at(view_.joints) + 1);
  Merged<Moved> moved(target_extent_.size());
  const auto add_leaf = [&](std::int32_t index) {
    const Leaf& leaf = leaves_[at(index)];
    for (std::int32_t r = leaf_runs_[at(index)]; r < leaf_runs_[at(index) + 1]; ++r) {
      const Run& run = runs_[at(r)];
      for (std::int32_t i = run.begin; i < run.end; ++i) {
        Extent point;
        std::copy_n(positions_.data() + 3 * (leaf.first + std::int64_t{i}), 3, point.low);
        std::copy_n(point.low, 3, point.high);
        for (std::int32_t k = 0; k < run.width; ++k) {
          const float weight = weights_[at(run.weights + (i - run.begin) * run.width + k)];
          holds.add({run_slots_[at(run.slots + k)], point, weight, weight});
        }
      }
    }
    for (std::int32_t v = leaf.first; morphs && v < leaf.first + leaf.count; ++v) {
      for (std::int32_t e = morph_first_[at(v)]; e < morph_first_[at(v) + 1]; ++e) {
        Moved entry{morph_target_[at(e)], {}};
        for (int k = 0; k < 3; ++k) {
          const float delta = morph_deltas_[at(3 * std::int64_t{e} + k)];
          entry.box.low[k] = std::min(delta, 0.0f);
          entry.box.high[k] = std::max(delta, 0.0f);
        }
        moved.add(entry);
      }
    }
    return leaf.count;
  };
  const auto add_node = [&](std::int32_t index) {
    int parts = 0;
    for (int i = 0; i < kWidth; ++i) {
      if (nodes_[at(index)].child[i] == bvh::kEmpty) continue;
      ++parts;
      const Lane lane = lanes_[at(std::int64_t{index} * kWidth + i)];
      for (int s = 0; s < lane.count; ++s) {
        Hold hold = holds.items[at(lane.first + s)];
        hold.parts = 1;
        holds.add(hold);
      }
      for (int s = 0; s < lane.morph_count; ++s) {
        const Moved entry = moved.items[at(lane.morphs + s)];
        moved.add(entry);
      }
    }
    return parts;
  };
  for (std::int64_t n = tree.node_count - 1; n >= 0; --n) {
    for (int i = 0; i < kWidth; ++i) {
      const std::int32_t child = nodes_[at(n)].child[i] = tree.nodes[n].child[i];
      if (child == bvh::kEmpty) continue;
      holds.begin();
      moved.begin();
      const std::int32_t parts = child < 0 ? add_leaf(~child) : add_node(child);
      float most = 0;
      Extent box = holds.current().front().box;
      for (Hold& hold : holds.current()) {
        if (hold.parts < parts) hold.least = 0;
        most += hold.most;
        box.grow(hold.box);
      }
      std::ranges::sort(holds.current(), [](const Hold& a, const Hold& b) {
        return std::tuple(-a.most, a.key) < std::tuple(-b.most, b.key);
      });
      if (holds.items.size() > at(std::numeric_limits<std::int32_t>::max())) throw std::length_error("too many joints");
      const auto count = static_cast<std::int32_t>(holds.current().size());
      Lane& lane = lanes_[at(n * kWidth + i)];
      put_ball(box, lane);
      lane.first = static_cast<std::int32_t>(holds.first());
      lane.count = count;
      lane.morphs = static_cast<std::int32_t>(moved.first());
      lane.morph_count = static_cast<std::int32_t>(moved.current().size());
      lane.weighted = count <= kMostWeighted && most <= kMostWeight;
    }
  }
  for (const Hold& hold : holds.items) {
    shares_.push_back(share_of(hold, view_.rounding));
    slots_.push_back(hold.key);
  }
  for (const Moved& entry : moved.items) {
    MorphBox box{{}, {}, entry.key};
    std::copy_n(entry.box.low, 3, box.low);
    std::copy_n(entry.box.high, 3, box.high);
    morph_boxes_.push_back(box);
  }
}

float RestTree::extent(const float* morph_weights) const {
  double sum = view_.extent;
  for (std::size_t t = 0; t < target_extent_.size(); ++t) {
    sum += std::fabs(double{morph_weights[t]}) * target_extent_[t];
  }
  return up(sum);
}

std::size_t RestTree::bytes() const {
  const auto size = [](const auto& list) { return list.size() * sizeof(list[0]); };
  return size(nodes_) + size(lanes_) + size(shares_) + size(slots_) + size(morph_boxes_) + size(leaves_) +
         size(positions_) + size(leaf_runs_) + size(run_slots_) + size(runs_) + size(weights_) + size(sums_) +
         size(panels_.panels) + size(panels_.rows) + size(panels_.slots) + size(panels_.weights) +
         size(morph_first_) + size(morph_target_) + size(morph_deltas_);
}

}  // namespace bunraku::posed
