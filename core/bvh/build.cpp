// Builds wide trees from the top down: a node's children are found by splitting, again and again,
// the child with the largest surface until there are `width` of them.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "bvh/tree.hpp"
#include "threads.hpp"

namespace bunraku::bvh {
namespace {

typedef float Quad __attribute__((vector_size(16)));
typedef std::int32_t QuadInt __attribute__((vector_size(16)));

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int kBins = 16;
constexpr int kFewBins = 8;              // for ranges below kFew primitives
constexpr std::int64_t kFew = 128;
constexpr int kSteep = 40;               // from this depth on ranges are halved, whatever they cost
constexpr std::int64_t kTask = 16384;    // primitives of a subtree that is worth a thread's turn
constexpr std::int64_t kGrain = 16384;   // primitives of a range that is binned in one go

Quad smaller(Quad a, Quad b) { return a < b ? a : b; }
Quad larger(Quad a, Quad b) { return a > b ? a : b; }

// The fourth lane of `low` carries the primitive's index, that of `high` nothing.
struct Item {
  Quad low, high;

  std::int32_t primitive() const { return reinterpret_cast<const std::int32_t*>(&low)[3]; }
  Quad centre() const { return low + high; }  // twice it, which does as well
};

struct Box {
  Quad low = Quad{} + kInfinity;
  Quad high = Quad{} - kInfinity;

  void grow(Quad a, Quad b) {
    low = smaller(low, a);
    high = larger(high, b);
  }
  void grow(const Box& box) { grow(box.low, box.high); }
  float area() const {
    const Quad side = high - low;
    return side[0] * (side[1] + side[2]) + side[1] * side[2];
  }
};

struct Range {
  std::int64_t begin = 0, end = 0;
  Box box, centres;

  std::int64_t count() const { return end - begin; }
  void grow(const Item& item) {
    box.grow(item.low, item.high);
    centres.grow(item.centre(), item.centre());
  }
};

struct Bin {
  Box box;
  std::int64_t count = 0;
};

struct Binning {
  int bins;
  Quad from, scale;

  Binning(const Range& range, int count) : bins(count), from(range.centres.low) {
    const Quad width = range.centres.high - range.centres.low;
    for (int k = 0; k < 3; ++k) scale[k] = width[k] > 0 ? static_cast<float>(bins) * 0.999999f / width[k] : 0;
    scale[3] = 0;
    for (int k = 0; k < 3; ++k) {
      if (!(scale[k] < kInfinity)) scale[k] = 0;
    }
    from[3] = 0;
  }
  QuadInt of(const Item& item) const {
    Quad at = (item.centre() - from) * scale;
    at[3] = 0;
    const Quad last = Quad{} + static_cast<float>(bins - 1);
    return __builtin_convertvector(smaller(at, last), QuadInt);
  }
};

struct Split {
  int axis = -1;
  int bin = 0;                          // the last on the left
  float cost = kInfinity;
};

struct Table {
  Bin bin[3][kBins];

  void add(const Item* items, std::int64_t begin, std::int64_t end, const Binning& binning) {
    for (std::int64_t i = begin; i < end; ++i) {
      const QuadInt at = binning.of(items[i]);
      for (int k = 0; k < 3; ++k) {
        Bin& to = bin[k][at[k]];
        to.box.grow(items[i].low, items[i].high);
        ++to.count;
      }
    }
  }
  void add(const Table& other) {
    for (int k = 0; k < 3; ++k) {
      for (int b = 0; b < kBins; ++b) {
        bin[k][b].box.grow(other.bin[k][b].box);
        bin[k][b].count += other.bin[k][b].count;
      }
    }
  }
  // SA(left) · packets(left) + SA(right) · packets(right), the least of it.
  Split best(const Binning& binning, int leaf_size) const {
    Split split;
    const auto packets = [&](std::int64_t count) {
      return static_cast<float>((count + leaf_size - 1) / leaf_size);
    };
    for (int k = 0; k < 3; ++k) {
      if (!(binning.scale[k] > 0)) continue;
      float right_cost[kBins];
      Box box;
      std::int64_t count = 0;
      for (int b = binning.bins - 1; b > 0; --b) {
        box.grow(bin[k][b].box);
        count += bin[k][b].count;
        right_cost[b] = count > 0 ? box.area() * packets(count) : kInfinity;
      }
      box = Box();
      count = 0;
      for (int b = 0; b + 1 < binning.bins; ++b) {
        box.grow(bin[k][b].box);
        count += bin[k][b].count;
        if (count == 0) continue;
        const float cost = box.area() * packets(count) + right_cost[b + 1];
        if (cost < split.cost) split = {k, b, cost};
      }
    }
    return split;
  }
};

class Builder {
 public:
  Builder(Item* items, const BuildOptions& options) : items_(items), options_(options) {}

  bool is_leaf(const Range& range) const { return range.count() <= options_.leaf_size; }

  // Splits in two parts of at least one primitive.
  std::pair<Range, Range> split(const Range& range, int depth, bool in_parallel) const {
    if (options_.median) return halve(range, longest(range.box), true);
    if (depth >= kSteep) return halve(range, longest(range.centres), true);
    const Binning binning(range, range.count() < kFew ? kFewBins : kBins);
    Table table;
    if (in_parallel) {
      bin_in_parallel(range, binning, table);
    } else {
      table.add(items_, range.begin, range.end, binning);
    }
    const Split split = table.best(binning, options_.leaf_size);
    if (split.axis < 0) return halve(range, 0, false);  // all centres in one place
    return part(range, binning, split);
  }

  // The ranges of a node's children.
  std::vector<Range> children(const Range& range, int depth, bool in_parallel) const {
    std::vector<Range> found{range};
    while (static_cast<int>(found.size()) < options_.width) {
      int widest = -1;
      float area = -1;
      for (int i = 0; i < static_cast<int>(found.size()); ++i) {
        const Range& child = found[static_cast<std::size_t>(i)];
        if (is_leaf(child)) continue;
        const float its = child.box.area();
        if (its > area || widest < 0) widest = i, area = its;
      }
      if (widest < 0) break;
      auto [left, right] = split(found[static_cast<std::size_t>(widest)], depth, in_parallel);
      found[static_cast<std::size_t>(widest)] = left;
      found.insert(found.begin() + widest + 1, right);
    }
    return found;
  }

 private:
  static int longest(const Box& box) {
    const Quad side = box.high - box.low;
    const int axis = side[0] >= side[1] ? 0 : 1;
    return side[2] > side[axis] ? 2 : axis;
  }

  std::pair<Range, Range> halve(const Range& range, int axis, bool sorted) const {
    Range left, right;
    left.begin = range.begin;
    left.end = right.begin = range.begin + range.count() / 2;
    right.end = range.end;
    if (sorted) {
      std::nth_element(items_ + left.begin, items_ + left.end, items_ + right.end, [axis](const Item& a, const Item& b) {
        const float x = a.centre()[axis], y = b.centre()[axis];
        return x < y || (x == y && a.primitive() < b.primitive());
      });
    }
    for (Range* half : {&left, &right}) {
      for (std::int64_t i = half->begin; i < half->end; ++i) half->grow(items_[i]);
    }
    return {left, right};
  }

  std::pair<Range, Range> part(const Range& range, const Binning& binning, const Split& split) const {
    Range left, right;
    std::int64_t i = range.begin, j = range.end;
    const auto on_left = [&](const Item& item) { return binning.of(item)[split.axis] <= split.bin; };
    for (;;) {
      while (i < j && on_left(items_[i])) left.grow(items_[i++]);
      while (i < j && !on_left(items_[j - 1])) right.grow(items_[--j]);
      if (i >= j) break;
      std::swap(items_[i], items_[j - 1]);
      left.grow(items_[i++]);
      right.grow(items_[--j]);
    }
    left.begin = range.begin;
    left.end = right.begin = i;
    right.end = range.end;
    return {left, right};
  }

  void bin_in_parallel(const Range& range, const Binning& binning, Table& table) const {
    const std::int64_t chunks = (range.count() + kGrain - 1) / kGrain;
    std::vector<Table> parts(static_cast<std::size_t>(chunks));
    parallel_for(chunks, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t c = begin; c < end; ++c) {
        parts[static_cast<std::size_t>(c)].add(items_, range.begin + c * kGrain,
                                               std::min(range.begin + (c + 1) * kGrain, range.end), binning);
      }
    });
    for (const Table& one : parts) table.add(one);
  }

  Item* items_;
  const BuildOptions& options_;
};

// A subtree that one thread builds, to hang under a node of the top.
struct Task {
  Range range;
  std::int32_t parent = 0;
  int lane = 0;
  int depth = 0;
  std::vector<Node> nodes;
  std::int64_t leaves = 0;
  int deepest = 0;
};

struct Pending {
  Range range;
  std::int32_t parent;
  int lane;
  int depth;
};

// Appends the nodes of `range` to `nodes`, parents first. Ranges of at most `small` go to `tasks`.
void grow(const Builder& builder, const Range& whole, int depth, std::int64_t small, bool in_parallel,
          std::vector<Node>& nodes, std::int64_t& leaves, int& deepest, std::vector<Task>* tasks) {
  std::vector<Pending> stack{{whole, -1, 0, depth}};
  while (!stack.empty()) {
    const Pending now = stack.back();
    stack.pop_back();
    if (tasks != nullptr && now.range.count() <= small && now.parent >= 0) {
      Task task;
      task.range = now.range, task.parent = now.parent, task.lane = now.lane, task.depth = now.depth;
      tasks->push_back(std::move(task));
      continue;
    }
    const auto index = static_cast<std::int32_t>(nodes.size());
    if (now.parent >= 0) nodes[static_cast<std::size_t>(now.parent)].child[now.lane] = index;
    deepest = std::max(deepest, now.depth + 1);
    const std::vector<Range> children = builder.children(now.range, now.depth, in_parallel);
    Node node;
    for (int i = 0; i < kWidth; ++i) {
      node.child[i] = kEmpty;
      node.spare[i] = 0;
      for (int k = 0; k < 3; ++k) {
        node.plane[k][0][i] = kInfinity;
        node.plane[k][1][i] = -kInfinity;
      }
    }
    for (int i = static_cast<int>(children.size()) - 1; i >= 0; --i) {
      const Range& child = children[static_cast<std::size_t>(i)];
      if (builder.is_leaf(child)) {
        node.child[i] = static_cast<std::int32_t>(~child.begin);
        node.spare[i] = static_cast<std::int32_t>(child.count());
        ++leaves;
      } else {
        stack.push_back({child, index, i, now.depth + 1});
      }
    }
    nodes.push_back(node);
  }
}

void load_items(const Source& source, std::int64_t begin, std::int64_t end, Item* items) {
  const auto point = [&](const float* from, std::int64_t i) {
    return Quad{from[3 * i], from[3 * i + 1], from[3 * i + 2], 0};
  };
  for (std::int64_t i = begin; i < end; ++i) {
    Quad low, high, sum;
    if (source.kind == Kind::triangles) {
      const std::int32_t* face = source.faces + 3 * i;
      const Quad a = point(source.points, face[0]), b = point(source.points, face[1]), c = point(source.points, face[2]);
      low = smaller(smaller(a, b), c);
      high = larger(larger(a, b), c);
      sum = a + b + c;
    } else if (source.kind == Kind::boxes) {
      low = point(source.points, i);
      high = point(source.extents, i);
      sum = low + high;
    } else {
      const Quad centre = point(source.points, i);
      low = centre - source.extents[i];
      high = centre + source.extents[i];
      sum = low + high;
    }
    bool usable = true;
    for (int k = 0; k < 3; ++k) {
      usable = usable && sum[k] - sum[k] == 0 && low[k] >= -kLargest && high[k] <= kLargest && low[k] <= high[k];
    }
    // What cannot be hit now may be after a refit: it stays, as a point at the origin.
    if (!usable) low = high = Quad{};
    const auto primitive = static_cast<std::int32_t>(i);
    __builtin_memcpy(reinterpret_cast<char*>(&low) + 12, &primitive, sizeof primitive);
    items[i] = {low, high};
  }
}

Range whole_range(const Item* items, std::int64_t count) {
  const std::int64_t chunks = (count + kGrain - 1) / kGrain;
  std::vector<Range> parts(static_cast<std::size_t>(chunks));
  parallel_for(chunks, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t c = begin; c < end; ++c) {
      Range part;
      for (std::int64_t i = c * kGrain; i < std::min((c + 1) * kGrain, count); ++i) part.grow(items[i]);
      parts[static_cast<std::size_t>(c)] = part;
    }
  });
  Range whole;
  whole.end = count;
  for (const Range& part : parts) {
    whole.box.grow(part.box);
    whole.centres.grow(part.centres);
  }
  return whole;
}

}  // namespace

Skeleton build(const Source& source, const BuildOptions& options) {
  Skeleton skeleton;
  const auto count = static_cast<std::size_t>(source.count);
  const Pages<Item> items(count);
  parallel_for(source.count, kGrain, [&](std::int64_t begin, std::int64_t end) { load_items(source, begin, end, items.data()); });
  const Builder builder(items.data(), options);
  const Range whole = whole_range(items.data(), source.count);

  if (builder.is_leaf(whole)) {
    skeleton.leaves = source.count > 0 ? 1 : 0;
  } else {
    // Near the root there are few ranges but large ones: threads share the binning. Further
    // down there are many: each thread takes subtrees of its own.
    const bool shared = thread_count() > 1 && source.count > kTask;
    std::vector<Node> top;
    std::vector<Task> tasks;
    grow(builder, whole, 0, std::max(kTask, source.count / (8 * thread_count())), shared, top, skeleton.leaves,
         skeleton.depth, shared ? &tasks : nullptr);
    parallel_for(static_cast<std::int64_t>(tasks.size()), 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t t = begin; t < end; ++t) {
        Task& task = tasks[static_cast<std::size_t>(t)];
        grow(builder, task.range, task.depth, 0, false, task.nodes, task.leaves, task.deepest, nullptr);
      }
    });
    std::size_t total = top.size();
    for (const Task& task : tasks) total += task.nodes.size();
    skeleton.nodes = Pages<Node>(total);
    std::size_t at = top.size();
    for (const Task& task : tasks) {
      const auto offset = static_cast<std::int32_t>(at);
      top[static_cast<std::size_t>(task.parent)].child[task.lane] = offset;
      for (Node node : task.nodes) {
        for (std::int32_t& child : node.child) child += child >= 0 ? offset : 0;
        skeleton.nodes[at++] = node;
      }
      skeleton.leaves += task.leaves;
      skeleton.depth = std::max(skeleton.depth, task.deepest);
    }
    std::copy(top.begin(), top.end(), skeleton.nodes.data());
  }
  skeleton.order = Pages<std::int32_t>(count);
  for (std::size_t i = 0; i < count; ++i) skeleton.order[i] = items[i].primitive();
  return skeleton;
}

}  // namespace bunraku::bvh
