#include "rig/prepare.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <queue>
#include <stdexcept>
#include <string>
#include <utility>

namespace bunraku {
namespace {

// Hostile files could ask for hours per frame, or for lists of gigabytes.
constexpr double kMostMatrices = 1e8;
constexpr std::size_t kMostEntries = 10'000'000, kMostChecks = 100'000'000;

using Index = std::int32_t;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

[[noreturn]] void too_much() {
  throw std::invalid_argument("chains: their links and loops would take more than 100 million matrices per frame");
}

void require_node(Index node, std::size_t count, const char* what) {
  if (node < 0 || at(node) >= count) {
    throw std::invalid_argument(std::string(what) + ": node " + std::to_string(node) + ", but there are " +
                                std::to_string(count));
  }
}

// Disjoint ranges of places in depth-first order.
class Ranges {
 public:
  // Subtrees either nest or lie apart: those within a new one are dropped.
  void add(Index begin, Index end) {
    if (holds(begin)) return;
    auto next = ranges_.lower_bound(begin);
    while (next != ranges_.end() && next->first < end) next = ranges_.erase(next);
    ranges_.emplace(begin, end);
  }
  bool holds(Index place) const {
    auto next = ranges_.upper_bound(place);
    return next != ranges_.begin() && place < std::prev(next)->second;
  }
  auto begin() const { return ranges_.begin(); }
  auto end() const { return ranges_.end(); }

 private:
  std::map<Index, Index> ranges_;
};

void walk_depth_first(RigPlan& plan) {
  const std::size_t count = plan.parents.size();
  std::vector<std::vector<Index>> children(count);
  std::vector<Index> waiting;
  for (std::size_t i = count; i-- > 0;) {
    const Index parent = plan.parents[i], node = static_cast<Index>(i);
    if (parent < 0) {
      waiting.push_back(node);
    } else {
      children[at(parent)].push_back(node);  // the last child first
    }
  }
  plan.place_of.assign(count, -1);
  plan.places.assign(3 * count, 0);
  while (!waiting.empty()) {
    const Index node = waiting.back();
    waiting.pop_back();
    plan.place_of[at(node)] = static_cast<Index>(plan.depth_first.size());
    plan.depth_first.push_back(node);
    waiting.insert(waiting.end(), children[at(node)].begin(), children[at(node)].end());
    const Index parent = plan.parents[at(node)];
    for (std::size_t c = 0; c < 3; ++c) {
      plan.places[3 * at(node) + c] = plan.rest[3 * at(node) + c] + (parent < 0 ? 0 : plan.places[3 * at(parent) + c]);
    }
  }
  if (plan.depth_first.size() < count) throw std::invalid_argument("parents: a node is its own ancestor");
  plan.end_of.resize(count);
  for (std::size_t i = count; i-- > 0;) {
    const Index node = plan.depth_first[i];
    Index end = static_cast<Index>(i) + 1;
    if (!children[at(node)].empty()) end = plan.end_of[at(plan.place_of[at(children[at(node)].front())])];
    plan.end_of[i] = end;
  }
}

// By (after physics, layer, index), where nodes wait for their parents, and goals also for the
// parents of their links and effector, unless those wait for the goal.
void sort_nodes(RigPlan& plan, std::span<const Index> layers, std::span<const bool> after_physics,
                std::span<const GivenChain> chains) {
  const std::size_t count = plan.parents.size();
  std::vector<Index> nodes(count), ranks(count);
  for (std::size_t i = 0; i < count; ++i) nodes[i] = static_cast<Index>(i);
  std::stable_sort(nodes.begin(), nodes.end(), [&](Index a, Index b) {
    return std::pair(after_physics[at(a)], layers[at(a)]) < std::pair(after_physics[at(b)], layers[at(b)]);
  });
  for (std::size_t i = 0; i < count; ++i) ranks[at(nodes[i])] = static_cast<Index>(i);

  std::vector<std::vector<Index>> children(count), goals(count);
  std::vector<Index> waits(count, 0);
  for (std::size_t i = 0; i < count; ++i) {
    if (plan.parents[i] >= 0) children[at(plan.parents[i])].push_back(static_cast<Index>(i));
  }
  for (const GivenChain& chain : chains) {
    std::vector<Index> links;
    for (const GivenLink& link : chain.links) links.push_back(link.node);
    std::vector<Index> moved = links;
    moved.push_back(chain.effector);
    std::sort(links.begin(), links.end());
    for (const Index node : moved) {
      const Index parent = plan.parents[at(node)];
      if (parent < 0 || parent == chain.goal || std::binary_search(links.begin(), links.end(), parent)) continue;
      goals[at(parent)].push_back(chain.goal);
      ++waits[at(chain.goal)];
    }
  }
  using Queue = std::priority_queue<Index, std::vector<Index>, std::greater<>>;
  Queue ready, free;  // ranks: those whose parent is placed, and of them those that wait for no one
  std::vector<bool> can(count, false), placed(count, false);
  const auto release = [&](Index node) {
    can[at(node)] = true;
    ready.push(ranks[at(node)]);
    if (waits[at(node)] == 0) free.push(ranks[at(node)]);
  };
  for (std::size_t i = 0; i < count; ++i) {
    if (plan.parents[i] < 0) release(static_cast<Index>(i));
  }
  while (plan.order.size() < count) {
    Queue& from = free.empty() ? ready : free;
    const Index node = nodes[at(from.top())];
    from.pop();
    if (placed[at(node)]) continue;
    placed[at(node)] = true;
    plan.order.push_back(node);
    for (const Index child : children[at(node)]) release(child);
    for (const Index goal : goals[at(node)]) {
      if (--waits[at(goal)] == 0 && can[at(goal)]) free.push(ranks[at(goal)]);
    }
  }
}

StepLimit step_limit(double angle) {
  const double cosine = angle < 0 ? 2 : angle >= std::numbers::pi ? -2 : std::cos(angle);
  return {cosine, std::sin(angle / 2), std::cos(angle / 2)};
}

RigLink prepared(const GivenLink& given, Index slot, double step, int k) {
  RigLink link{};
  link.node = given.node;
  link.slot = slot;
  link.limited = given.limited;
  link.only = -1;
  link.grown = step_limit(step * (k + 1));
  link.plain = step == 0 ? StepLimit{-2, 0, 1} : step_limit(step);
  if (!given.limited) return link;
  int open = 0;
  for (int axis = 0; axis < 3; ++axis) {
    link.low[axis] = given.low[axis];
    link.high[axis] = given.high[axis];
    if (given.low[axis] != 0 || given.high[axis] != 0) {
      ++open;
      link.only = axis;
    }
  }
  link.frozen = open == 0;
  if (open != 1) link.only = -1;
  constexpr double kRight = std::numbers::pi / 2;
  const auto inside = [&](int axis) { return given.low[axis] > -kRight && given.high[axis] < kRight; };
  link.order = inside(0) ? AxisOrder::yxz : inside(1) ? AxisOrder::zyx : AxisOrder::xzy;
  return link;
}

void add_chains(RigPlan& plan, std::span<const GivenChain> chains) {
  const std::size_t count = plan.parents.size();
  plan.slot_of.assign(count, -1);
  plan.goals.assign(count + 1, 0);
  for (const GivenChain& chain : chains) {
    require_node(chain.goal, count, "chains");
    require_node(chain.effector, count, "chains");
    ++plan.goals[at(chain.goal) + 1];
    for (const GivenLink& link : chain.links) {
      require_node(link.node, count, "links");
      Index& slot = plan.slot_of[at(link.node)];
      if (slot < 0) slot = plan.slots++;
    }
  }
  for (std::size_t i = 0; i < count; ++i) plan.goals[i + 1] += plan.goals[i];
  for (std::size_t i = 0; i < chains.size(); ++i) plan.chain_index.push_back(static_cast<Index>(i));
  std::stable_sort(plan.chain_index.begin(), plan.chain_index.end(),
                   [&](Index a, Index b) { return chains[at(a)].goal < chains[at(b)].goal; });
  for (const Index i : plan.chain_index) {
    const GivenChain& given = chains[at(i)];
    const auto first = static_cast<Index>(plan.links.size());
    int k = 0;
    for (const GivenLink& link : given.links) {
      plan.links.push_back(prepared(link, plan.slot_of[at(link.node)], given.step, k++));
    }
    plan.chains.push_back({given.goal, given.effector, first, static_cast<Index>(plan.links.size()),
                           std::clamp(given.loops, 0, 256)});
  }
}

// After a link has turned, engines compute everything below it anew, and every link nearer the
// effector with everything below that. Most of it matters for nothing but the end result, and is
// computed once the chain rests; what steps or appends look at is computed each time, in the same
// order, so that the end result is the same.
class Refreshes {
 public:
  explicit Refreshes(RigPlan& plan)
      : plan_(plan), relevant_in_(plan.parents.size(), -1), linked_in_(plan.parents.size(), -1) {
    for (std::size_t place = 0; place < plan.depth_first.size(); ++place) {
      if (append_at(static_cast<Index>(place)) != nullptr) appending_.push_back(static_cast<Index>(place));
    }
  }

  void find() {
    for (std::size_t i = 0; i < plan_.chains.size(); ++i) {
      const RigChain& chain = plan_.chains[i];
      number_ = static_cast<Index>(i);
      below_ = {};
      relevant_.clear();
      for (Index l = chain.links; l < chain.links_end; ++l) {
        const Index node = plan_.links[at(l)].node;
        below_.add(place(node) + 1, plan_.end_of[at(place(node))]);
        linked_in_[at(node)] = number_;
      }
      const bool in_order = mark_relevant(chain);
      for (Index l = chain.links; l < chain.links_end; ++l) {
        add_refresh(chain, l, in_order);
        add_settle(chain, plan_.links[at(l)]);
      }
    }
    check_cost();
  }

 private:
  Index place(Index node) const { return plan_.place_of[at(node)]; }

  const RigAppend* append_at(Index place) const {
    const Index append = plan_.append_of[at(plan_.depth_first[at(place)])];
    return append < 0 ? nullptr : &plan_.appends[at(append)];
  }

  void count_checks(std::size_t more) {
    checks_ += more;
    if (checks_ > kMostChecks) too_much();
  }

  // What steps look at: links, the effector, and appends that take from links or from below them,
  // with their sources. Returns whether all of these take from what is computed before them: if
  // not, computing a node twice is not the same as once, and everything matters.
  bool mark_relevant(const RigChain& chain) {
    // An effector beside its links is computed last, whatever it takes.
    bool in_order = below_.holds(place(chain.effector)) || append_at(place(chain.effector)) == nullptr;
    mark_up(chain.effector);
    for (Index l = chain.links; l < chain.links_end; ++l) mark_up(plan_.links[at(l)].node);
    for (const auto& [begin, end] : below_) {
      auto i = std::lower_bound(appending_.begin(), appending_.end(), begin);
      for (; i != appending_.end() && *i < end; ++i) {
        count_checks(1);
        const RigAppend& append = *append_at(*i);
        const Index source = place(append.source);
        if (!below_.holds(source) && linked_in_[at(append.source)] != number_) continue;
        mark_up(plan_.depth_first[at(*i)]);
        in_order &= source < *i || (!append.local && append_at(source) == nullptr);
      }
    }
    for (std::size_t i = 0; i < relevant_.size(); ++i) {  // grows while it is walked
      const RigAppend* const append = append_at(relevant_[i]);
      if (append != nullptr) mark_up(append->source);
    }
    for (const auto& [begin, end] : below_) {
      for (Index i = begin; i < end && !in_order; ++i) mark_up(plan_.depth_first[at(i)]);
    }
    std::sort(relevant_.begin(), relevant_.end());
    return in_order;
  }

  // A node and its ancestors, as far as they lie below links.
  void mark_up(Index node) {
    for (; node >= 0 && below_.holds(place(node)) && relevant_in_[at(node)] != number_; node = plan_.parents[at(node)]) {
      count_checks(1);
      relevant_in_[at(node)] = number_;
      relevant_.push_back(place(node));
    }
  }

  void add_refresh(const RigChain& chain, Index number, bool in_order) {
    RigLink& link = plan_.links[at(number)];
    link.refresh = static_cast<Index>(plan_.refreshes.size());
    Ranges done;
    for (Index l = number; l >= chain.links; --l) {
      const Index node = plan_.links[at(l)].node, begin = place(node) + 1, end = plan_.end_of[at(place(node))];
      count_checks(1);
      if (in_order && done.holds(place(node))) continue;
      done.add(begin, end);
      push(plan_.refreshes, ~node);
      auto i = std::lower_bound(relevant_.begin(), relevant_.end(), begin);
      for (; i != relevant_.end() && *i < end; ++i) push(plan_.refreshes, plan_.depth_first[at(*i)]);
    }
    if (!in_order || !done.holds(place(chain.effector))) push(plan_.refreshes, chain.effector);
    link.refresh_end = static_cast<Index>(plan_.refreshes.size());
  }

  void add_settle(const RigChain& chain, RigLink& link) {
    link.above = -1;
    for (Index l = chain.links_end; l-- > chain.links && &plan_.links[at(l)] != &link && link.above < 0;) {
      count_checks(1);
      const Index other = place(plan_.links[at(l)].node);
      if (other < place(link.node) && place(link.node) < plan_.end_of[at(other)]) link.above = l;
    }
    link.settle = static_cast<Index>(plan_.settles.size());
    for (Index i = place(link.node) + 1; i < plan_.end_of[at(place(link.node))]; ++i) {
      count_checks(1);
      const Index node = plan_.depth_first[at(i)];
      if (relevant_in_[at(node)] != number_) push(plan_.settles, node);
    }
    link.settle_end = static_cast<Index>(plan_.settles.size());
  }

  static void push(std::vector<Index>& entries, Index entry) {
    if (entries.size() == kMostEntries) too_much();
    entries.push_back(entry);
  }

  void check_cost() const {
    // Of the chains of each goal, with the chains of their effectors, and theirs.
    std::vector<double> own(plan_.chains.size()), of_goal(plan_.parents.size()), deeper(plan_.parents.size());
    for (std::size_t i = 0; i < own.size(); ++i) {
      const RigChain& chain = plan_.chains[i];
      double loop = 0, once = 2;
      for (Index l = chain.links; l < chain.links_end; ++l) {
        const RigLink& link = plan_.links[at(l)];
        loop += 1 + link.refresh_end - link.refresh;
        once += 1 + link.settle_end - link.settle;
      }
      own[i] = once + chain.loops * loop;
    }
    for (int depth = 0; depth <= kNested; ++depth) {
      std::fill(of_goal.begin(), of_goal.end(), 0.0);
      for (std::size_t i = 0; i < own.size(); ++i) {
        of_goal[at(plan_.chains[i].goal)] += own[i] + deeper[at(plan_.chains[i].effector)];
      }
      deeper = of_goal;
    }
    double all = 0;
    for (const double cost : of_goal) all += cost;
    if (all > kMostMatrices) too_much();
  }

  RigPlan& plan_;
  std::vector<Index> appending_;                // places with appends
  std::vector<Index> relevant_in_, linked_in_;  // by node, the last chain that it is of
  std::vector<Index> relevant_;                 // places
  Ranges below_;
  Index number_ = 0;
  std::size_t checks_ = 0;
};

}  // namespace

RigPlan::RigPlan(std::span<const Index> given_parents, std::span<const double> given_rest, std::span<const Index> layers,
                 std::span<const bool> after_physics, std::span<const GivenAppend> given_appends,
                 std::span<const GivenChain> given_chains)
    : parents(given_parents.begin(), given_parents.end()), rest(given_rest.begin(), given_rest.end()) {
  const std::size_t count = parents.size();
  if (rest.size() != 3 * count || layers.size() != count || after_physics.size() != count) {
    throw std::invalid_argument("rest, layers, after_physics: expected three, one and one for each node");
  }
  for (const Index parent : parents) {
    if (parent != -1) require_node(parent, count, "parents");
  }
  append_of.assign(count, -1);
  for (const GivenAppend& append : given_appends) {
    require_node(append.node, count, "appends");
    require_node(append.source, count, "appends");
    append_of[at(append.node)] = static_cast<Index>(appends.size());
    appends.push_back({append.source, append.rotation, append.translation, append.local, append.ratio});
  }
  walk_depth_first(*this);
  add_chains(*this, given_chains);
  sort_nodes(*this, layers, after_physics, given_chains);
  Refreshes(*this).find();
}

RigView RigPlan::view() const {
  return {static_cast<std::int64_t>(parents.size()),
          static_cast<std::int64_t>(chains.size()),
          slots,
          static_cast<std::int64_t>(appends.size()),
          parents.data(),
          rest.data(),
          places.data(),
          order.data(),
          append_of.data(),
          appends.data(),
          slot_of.data(),
          links.data(),
          chains.data(),
          goals.data(),
          chain_index.data(),
          refreshes.data(),
          settles.data()};
}

}  // namespace bunraku
