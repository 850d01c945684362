#include "bvh/tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "threads.hpp"

namespace bunraku::bvh {
namespace {

constexpr std::int64_t kNodeGrain = 256;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

void require(bool condition, const std::string& what) {
  if (!condition) throw std::invalid_argument(what);
}

void check_faces(const Source& source) {
  for (std::int64_t i = 0; i < 3 * source.count; ++i) {
    const std::int32_t vertex = source.faces[i];
    if (vertex >= 0 && vertex < source.point_count) continue;
    throw std::invalid_argument("faces[" + std::to_string(i / 3) + ", " + std::to_string(i % 3) + "]: vertex " +
                                std::to_string(vertex) + ", but there are " + std::to_string(source.point_count));
  }
}

void check(const Source& source, const BuildOptions& options) {
  require(options.width >= 2 && options.width <= kWidth, "width: expected 2 … 8, found " + std::to_string(options.width));
  require(options.leaf_size >= 1 && options.leaf_size <= kWidth,
          "leaf_size: expected 1 … 8, found " + std::to_string(options.leaf_size));
  if (source.count > (1 << 30)) throw std::length_error("more than 2^30 primitives");
  if (source.kind == Kind::triangles) check_faces(source);
}

// Middle of what is finite: any point would do, a near one keeps the margins small.
void find_centre(const Source& source, float* centre) {
  float low[3] = {kInfinity, kInfinity, kInfinity}, high[3] = {-kInfinity, -kInfinity, -kInfinity};
  for (std::int64_t i = 0; i < source.point_count; ++i) {
    for (int k = 0; k < 3; ++k) {
      const float x = source.points[3 * i + k];
      const bool usable = std::fabs(x) <= kLargest;
      low[k] = usable && x < low[k] ? x : low[k];
      high[k] = usable && x > high[k] ? x : high[k];
    }
  }
  for (int k = 0; k < 3; ++k) centre[k] = low[k] <= high[k] ? low[k] + (high[k] - low[k]) / 2 : 0;
}

double area(const Node& node, int lane) {
  double side[3];
  for (int k = 0; k < 3; ++k) side[k] = static_cast<double>(node.plane[k][1][lane]) - node.plane[k][0][lane];
  if (!(side[0] >= 0)) return 0;  // nothing finite below
  return side[0] * side[1] + side[1] * side[2] + side[2] * side[0];
}

}  // namespace

Tree::Tree(const Source& source, const BuildOptions& options) : primitives_(source.count), points_(source.point_count) {
  check(source, options);
  Skeleton skeleton = build(source, options);
  nodes_ = std::move(skeleton.nodes);
  depth_ = skeleton.depth;
  packets_ = Pages<Packet>(static_cast<std::size_t>(skeleton.leaves));
  view_.kind = source.kind;
  view_.nodes = nodes_.data();
  view_.packets = packets_.data();
  view_.node_count = static_cast<std::int64_t>(nodes_.size());
  view_.packet_count = skeleton.leaves;
  view_.root = view_.node_count > 0 ? 0 : skeleton.leaves > 0 ? ~0 : kEmpty;

  const auto fill = [&](std::int64_t packet, std::int64_t first, int count) {
    Packet& to = packets_[static_cast<std::size_t>(packet)];
    for (int i = 0; i < kWidth; ++i) {
      to.primitive[i] = i < count ? skeleton.order[static_cast<std::size_t>(first + i)] : -1;
    }
  };
  if (view_.node_count == 0) {
    if (view_.packet_count > 0) fill(0, 0, static_cast<int>(source.count));
  } else {
    std::vector<std::int64_t> firsts(static_cast<std::size_t>(view_.node_count));
    std::int64_t packet = 0;
    for (std::size_t n = 0; n < firsts.size(); ++n) {
      firsts[n] = packet;
      for (int i = 0; i < kWidth; ++i) packet += nodes_[n].child[i] < 0 && nodes_[n].child[i] != kEmpty;
    }
    parallel_for(view_.node_count, kNodeGrain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t n = begin; n < end; ++n) {
        std::int64_t next = firsts[static_cast<std::size_t>(n)];
        Node& node = view_.nodes[n];
        for (int i = 0; i < kWidth; ++i) {
          if (node.child[i] >= 0 || node.child[i] == kEmpty) continue;
          fill(next, ~node.child[i], node.spare[i]);
          node.child[i] = static_cast<std::int32_t>(~next);
          ++next;
        }
      }
    });
  }
  if (source.kind == Kind::triangles && options.corners) keep_corners(source.faces);
  place(source);
  built_cost_ = cost();
}

void Tree::keep_corners(const std::int32_t* faces) {
  corners_ = Pages<Corners>(packets_.size());
  parallel_for(view_.packet_count, kNodeGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p) {
      for (int i = 0; i < kWidth; ++i) {
        const std::int64_t primitive = view_.packets[p].primitive[i];
        for (int c = 0; c < 3; ++c) {
          corners_[static_cast<std::size_t>(p)].vertex[c][i] = primitive < 0 ? 0 : faces[3 * primitive + c];
        }
      }
    }
  });
  view_.corners = corners_.data();
}

void Tree::refit(const Source& source) {
  require(source.kind == view_.kind && source.count == primitives_ && source.point_count == points_,
          "refit: expected as many primitives as were built, " + std::to_string(points_) + " points, found " +
              std::to_string(source.point_count));
  if (source.kind == Kind::triangles && view_.corners == nullptr) {
    require(source.faces != nullptr || primitives_ == 0, "refit: expected faces");
    check_faces(source);
    keep_corners(source.faces);
  }
  place(source);
  gate_.whole();
}

void Tree::place(const Source& source) {
  find_centre(source, view_.centre);
  const BvhKernels& kernels = bvh_kernels_at(active_level());
  if (view_.root == ~0) {
    kernels.refit_packets(view_, source, 0, 0);
  } else {
    parallel_for(view_.node_count, kNodeGrain,
                 [&](std::int64_t begin, std::int64_t end) { kernels.refit_packets(view_, source, begin, end); });
    kernels.refit_nodes(view_);
  }
  view_.reach = 0;
  for (int k = 0; k < 3; ++k) {
    view_.low[k] = kInfinity;
    view_.high[k] = -kInfinity;
    const auto include = [&](float low, float high) {
      view_.low[k] = std::min(view_.low[k], low);
      view_.high[k] = std::max(view_.high[k], high);
    };
    if (view_.root == 0) {
      const Node& root = view_.nodes[0];
      for (int i = 0; i < kWidth; ++i) include(root.plane[k][0][i], root.plane[k][1][i]);
    } else if (view_.root == ~0) {
      const Packet& packet = view_.packets[0];
      for (int i = 0; i < kWidth; ++i) {
        const auto row = [&](int r) { return packet.data[r][i] - view_.centre[k]; };
        if (!(packet.data[0][i] == packet.data[0][i])) continue;
        const float radius = packet.data[3][i];
        if (view_.kind == Kind::triangles) {
          for (int c = 0; c < 3; ++c) include(row(3 * c + k), row(3 * c + k));
        } else if (view_.kind == Kind::boxes) {
          include(row(k), row(3 + k));
        } else {
          include(row(k) - radius, row(k) + radius);
        }
      }
    }
    if (view_.low[k] <= view_.high[k]) {
      view_.reach = std::max({view_.reach, std::fabs(view_.low[k]), std::fabs(view_.high[k])});
    }
    view_.low[k] += view_.centre[k];
    view_.high[k] += view_.centre[k];
  }
}

double Tree::cost() const {
  if (view_.node_count == 0) return view_.packet_count > 0 ? 1 : 0;
  double sum = 0, low[3], high[3];
  for (std::int64_t n = 0; n < view_.node_count; ++n) {
    for (int i = 0; i < kWidth; ++i) sum += area(view_.nodes[n], i);
  }
  for (int k = 0; k < 3; ++k) {
    low[k] = view_.low[k];
    high[k] = view_.high[k];
  }
  const double side[3] = {high[0] - low[0], high[1] - low[1], high[2] - low[2]};
  const double root = side[0] * side[1] + side[1] * side[2] + side[2] * side[0];
  return root > 0 ? 1 + sum / root : 1;
}

}  // namespace bunraku::bvh
