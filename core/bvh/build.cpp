// Builds a binary tree from the top down, then turns it into the wide tree of least expected cost:
// which binary nodes become wide nodes and which ranges become leaves is found by dynamic
// programming (Ylitie, Karras, Laine 2017), instead of by opening the largest child first, which
// leaves the lowest nodes half empty (3.6 children a node against 5.5, a fifth of all steps).

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "bvh/split.hpp"
#include "bvh/tree.hpp"
#include "threads.hpp"

namespace bunraku::bvh {
namespace {

constexpr std::int64_t kTask = 16384;    // primitives of a subtree that is worth a thread's turn
constexpr std::int64_t kGrain = 16384;   // primitives of a range that is binned in one go

// A node of the binary tree. Children stand together, behind their parent.
struct Branch {
  Box box;
  std::int32_t begin, count;
  Branch* halves;               // two, or null
  float cost[kWidth];           // [i]: of the subtree as at most i + 1 children of a wide node
  std::int8_t share[kWidth];    // [i]: of these, how many the left half becomes; -1: better fewer;
                                // [0]: 1 if the subtree is best a wide node, 0 for a leaf
  std::int8_t deal;             // children of that wide node that the left half becomes
};

// Steps a walk takes: a node's eight boxes against a packet's eight primitives.
constexpr float kNodeCost = 1.0f;
constexpr float kPacketCost = 1.2f;

// Costs overflow in scenes near the largest size allowed: any deal is as good then, but there must be
// one, and what fits no leaf must become a node.
void weigh(const BuildOptions& options, Branch& branch) {
  const float area = branch.box.area();
  const bool fits = branch.count <= options.leaf_size;
  const float leaf = fits ? area * kPacketCost : kInfinity;
  for (int i = 0; i < options.width; ++i) branch.share[i] = 0;
  if (branch.halves == nullptr) {
    for (int i = 0; i < options.width; ++i) branch.cost[i] = leaf;
    return;
  }
  const Branch &left = branch.halves[0], &right = branch.halves[1];
  for (int i = 1; i < options.width; ++i) {
    float best = kInfinity;
    for (int k = 1; k <= i; ++k) {
      const float cost = left.cost[k - 1] + right.cost[i - k];
      if (k == 1 || cost < best) best = cost, branch.share[i] = static_cast<std::int8_t>(k);
    }
    branch.cost[i] = best;
  }
  const float node = branch.cost[options.width - 1] + area * kNodeCost;
  branch.share[0] = !fits || node < leaf;
  branch.cost[0] = node < leaf ? node : leaf;
  branch.deal = branch.share[options.width - 1];
  for (int i = 1; i < options.width; ++i) {
    if (branch.cost[i - 1] <= branch.cost[i]) branch.cost[i] = branch.cost[i - 1], branch.share[i] = -1;
  }
}

// Pairs of branches in blocks that never move: subtrees of different threads need no merging.
class Branches {
 public:
  Branch* add_two() {
    if (used_ == kBlock) {
      blocks_.push_back(std::make_unique_for_overwrite<Branch[]>(kBlock));
      used_ = 0;
    }
    used_ += 2;
    return blocks_.back().get() + used_ - 2;
  }
  // Halves before what they are halves of.
  template <typename Visit>
  void from_the_last(Visit visit) {
    for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
      for (std::size_t i = block == blocks_.rbegin() ? used_ : kBlock; i-- > 0;) visit((*block)[i]);
    }
  }

 private:
  static constexpr std::size_t kBlock = 1024;
  std::vector<std::unique_ptr<Branch[]>> blocks_;
  std::size_t used_ = kBlock;
};

struct Pending {
  Range range;
  Branch* branch;
  int depth;
};

void set(Branch& branch, const Range& range) {
  branch.box = range.box;
  branch.begin = static_cast<std::int32_t>(range.begin);
  branch.count = static_cast<std::int32_t>(range.count());
  branch.halves = nullptr;
}

void divide(Branches& branches, const Pending& whole, const std::pair<Range, Range>& halves, std::vector<Pending>& list) {
  Branch* const two = whole.branch->halves = branches.add_two();
  set(two[0], halves.first);
  set(two[1], halves.second);
  list.push_back({halves.second, two + 1, whole.depth + 1});
  list.push_back({halves.first, two, whole.depth + 1});
}

// Everything below `whole`, built and weighed.
void grow(const Builder& builder, const BuildOptions& options, const Pending& whole, Branches& branches) {
  std::vector<Pending> stack{whole};
  while (!stack.empty()) {
    const Pending now = stack.back();
    stack.pop_back();
    if (!builder.is_small(now.range)) divide(branches, now, builder.split(now.range, now.depth), stack);
  }
  branches.from_the_last([&](Branch& branch) { weigh(options, branch); });
  weigh(options, *whole.branch);
}

// The binary tree. Threads share the levels near the root, splitting the ranges of a level in
// parallel; further down each takes subtrees of its own.
struct Binary {
  Branch root;
  Branches top;
  std::vector<Branches> rest;

  Binary(const Builder& builder, const BuildOptions& options, const Range& whole) {
    const std::int64_t small = thread_count() > 1 ? std::max(kTask, whole.count() / (8 * thread_count())) : whole.count();
    std::vector<Pending> level{{whole, &root, 0}}, tasks;
    set(root, whole);
    while (!level.empty()) {
      std::vector<std::pair<Range, Range>> halves(level.size());
      parallel_for(static_cast<std::int64_t>(level.size()), 1, [&](std::int64_t begin, std::int64_t end) {
        for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
          if (level[i].range.count() > small) halves[i] = builder.split(level[i].range, level[i].depth);
        }
      });
      std::vector<Pending> next;
      for (std::size_t i = 0; i < level.size(); ++i) {
        if (level[i].range.count() > small) {
          divide(top, level[i], halves[i], next);
        } else {
          tasks.push_back(level[i]);
        }
      }
      level = std::move(next);
    }
    rest.resize(tasks.size());
    parallel_for(static_cast<std::int64_t>(tasks.size()), 1, [&](std::int64_t begin, std::int64_t end) {
      for (auto t = static_cast<std::size_t>(begin); t < static_cast<std::size_t>(end); ++t) {
        grow(builder, options, tasks[t], rest[t]);
      }
    });
    // A task's root is weighed already, and keeps its weight: it has its halves now.
    top.from_the_last([&](Branch& branch) { weigh(options, branch); });
    weigh(options, root);
  }
};

// The roots of the subtrees that `branch`, dealt `slots` children of a wide node, becomes.
void deal(const Branch& branch, int slots, std::vector<const Branch*>& children) {
  while (slots > 1 && branch.share[slots - 1] < 0) --slots;
  const int left = slots > 1 ? branch.share[slots - 1] : 0;
  if (left == 0) {
    children.push_back(&branch);
    return;
  }
  deal(branch.halves[0], left, children);
  deal(branch.halves[1], slots - left, children);
}

Node empty_node() {
  Node node;
  for (int i = 0; i < kWidth; ++i) {
    node.child[i] = kEmpty;
    node.spare[i] = 0;
    for (int k = 0; k < 3; ++k) {
      node.plane[k][0][i] = kInfinity;
      node.plane[k][1][i] = -kInfinity;
    }
  }
  return node;
}

void collapse(const Branch& root, const BuildOptions& options, Skeleton& skeleton) {
  struct Open {
    const Branch* branch;
    std::int32_t parent;
    int lane, depth;
  };
  std::vector<Node> nodes;
  std::vector<Open> stack{{&root, -1, 0, 0}};
  std::vector<const Branch*> children;
  while (!stack.empty()) {
    const Open now = stack.back();
    stack.pop_back();
    const auto index = static_cast<std::int32_t>(nodes.size());
    if (now.parent >= 0) nodes[static_cast<std::size_t>(now.parent)].child[now.lane] = index;
    skeleton.depth = std::max(skeleton.depth, now.depth + 1);
    children.clear();
    deal(now.branch->halves[0], now.branch->deal, children);
    deal(now.branch->halves[1], options.width - now.branch->deal, children);
    Node node = empty_node();
    for (int i = static_cast<int>(children.size()) - 1; i >= 0; --i) {
      const Branch* const child = children[static_cast<std::size_t>(i)];
      if (child->share[0] == 0) {
        node.child[i] = ~child->begin;
        node.spare[i] = child->count;
        ++skeleton.leaves;
      } else {
        stack.push_back({child, index, i, now.depth + 1});
      }
    }
    nodes.push_back(node);
  }
  skeleton.nodes = Pages<Node>(nodes.size());
  std::copy(nodes.begin(), nodes.end(), skeleton.nodes.data());
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

  if (source.count <= options.leaf_size) {
    skeleton.leaves = source.count > 0 ? 1 : 0;
  } else {
    const Binary binary(builder, options, whole);
    collapse(binary.root, options, skeleton);
  }
  skeleton.order = Pages<std::int32_t>(count);
  for (std::size_t i = 0; i < count; ++i) skeleton.order[i] = items[i].primitive();
  return skeleton;
}

}  // namespace bunraku::bvh
