#pragma once
// A tree that owns its memory: built once, refitted as often as its primitives move.

#include <cstddef>
#include <cstdint>

#include "bvh/bvh.hpp"
#include "bvh/pages.hpp"
#include "gate.hpp"

namespace bunraku::bvh {

struct BuildOptions {
  bool median = false;       // split at the median of the longest axis instead of by surface area
  int width = kWidth;        // children of a node, 2 … 8
  int leaf_size = kWidth;    // primitives of a packet, 1 … 8
  bool corners = true;       // keep the packets' vertex indices; else the first refit adds them
};

class Tree {
 public:
  // Throws std::invalid_argument for a face outside the vertices and options out of range,
  // std::length_error beyond 2^30 primitives.
  Tree(const Source& source, const BuildOptions& options);

  // The same primitives elsewhere; faces are read by the first refit of a tree without corners.
  // Throws std::invalid_argument when their number differs.
  void refit(const Source& source);

  const TreeView& view() const { return view_; }
  std::int64_t primitives() const { return primitives_; }
  int depth() const { return depth_; }
  std::size_t bytes() const { return nodes_.bytes() + packets_.bytes() + corners_.bytes(); }

  // Nodes and packets that a random line through the bounds is expected to touch.
  double cost() const;
  double built_cost() const { return built_cost_; }

  // Queries hold it shared, refit() alone: whoever comes late waits.
  Gate& gate() const { return gate_; }

 private:
  void place(const Source& source);
  void keep_corners(const std::int32_t* faces);

  Pages<Node> nodes_;
  Pages<Packet> packets_;
  Pages<Corners> corners_;
  TreeView view_{};
  std::int64_t primitives_ = 0;
  std::int64_t points_ = 0;
  int depth_ = 0;
  double built_cost_ = 0;
  mutable Gate gate_;
};

// What the builder hands over: nodes whose packet lanes still name ranges of `order`.
struct Skeleton {
  Pages<Node> nodes;           // child: >= 0 a node, else ~(first of `order`), with `spare` primitives
  Pages<std::int32_t> order;   // primitives, packet after packet
  std::int64_t leaves = 0;
  int depth = 0;
};

Skeleton build(const Source& source, const BuildOptions& options);

}  // namespace bunraku::bvh
