// Modes TRIANGLES and INDICES.

#include <cstring>

#include "meshopt/meshopt.hpp"
#include "meshopt/stream.hpp"

namespace bunraku::meshopt {
namespace {

// The 16 latest entries; 0 is the newest.
template <class Entry>
class Fifo {
 public:
  explicit Fifo(const char* what) : what_(what) {}

  void push(const Entry& entry) { entries_[written_++ & 15] = entry; }

  const Entry& recent(unsigned age) const {
    if (age >= written_) {
      refuse(std::string("a triangle refers to ") + what_ + " " + std::to_string(age) + " back, but only " +
             std::to_string(written_) + " came before it");
    }
    return entries_[(written_ - 1 - age) & 15];
  }

 private:
  const char* what_;
  Entry entries_[16];
  std::uint64_t written_ = 0;
};

struct Edge {
  std::uint32_t a, b;
};

struct Triangle {
  std::uint32_t a, b, c;
};

class TriangleDecoder {
 public:
  TriangleDecoder(Reader data, const std::uint8_t* codeaux) : data_(data) {
    std::memcpy(codeaux_, codeaux, 16);
    for (int i = 0; i < 16; ++i) {
      if ((codeaux_[i] & 15) == 15 || codeaux_[i] >> 4 == 15 || (i > 13 && codeaux_[i] != 0)) {
        refuse("entry " + std::to_string(i) + " of the triangle code table is " +
               std::to_string(codeaux_[i]) + ", which no encoder may write");
      }
    }
  }

  Triangle decode(unsigned code) {
    const unsigned high = code >> 4, low = code & 15;
    if (high < 15) return on_edge(edges_.recent(high), low);
    if (low < 14) return apart(next_++, codeaux_[low]);
    const unsigned vertices = data_.byte();
    if (vertices == 0) next_ = 0;
    return apart(low == 14 ? next_++ : near_last(), vertices);
  }

  void expect_end() const { data_.expect_end(); }

 private:
  std::uint32_t near_last() { return last_ += unzigzag(data_.varint()); }

  Triangle on_edge(Edge edge, unsigned low) {
    std::uint32_t c;
    switch (low) {
      case 0: c = next_++; break;
      case 13: c = --last_; break;
      case 14: c = ++last_; break;
      case 15: c = near_last(); break;
      default: c = vertices_.recent(low);
    }
    if (low == 0 || low >= 13) vertices_.push(c);
    edges_.push({c, edge.b});
    edges_.push({edge.a, c});
    return {edge.a, edge.b, c};
  }

  // A triangle that shares no recent edge; the two halves of `vertices` say where b and c come from.
  Triangle apart(std::uint32_t a, unsigned vertices) {
    const unsigned from_b = vertices >> 4, from_c = vertices & 15;
    const std::uint32_t b = vertex(from_b);
    const std::uint32_t c = vertex(from_c);
    vertices_.push(a);
    if (from_b == 0 || from_b == 15) vertices_.push(b);
    if (from_c == 0 || from_c == 15) vertices_.push(c);
    edges_.push({b, a});
    edges_.push({c, b});
    edges_.push({a, c});
    return {a, b, c};
  }

  std::uint32_t vertex(unsigned from) {
    if (from == 0) return next_++;
    return from == 15 ? near_last() : vertices_.recent(from - 1);
  }

  Reader data_;
  std::uint8_t codeaux_[16];
  std::uint32_t next_ = 0, last_ = 0;
  Fifo<Edge> edges_{"an edge"};
  Fifo<std::uint32_t> vertices_{"a vertex"};
};

template <class Index>
void store(std::uint8_t* out, std::size_t i, std::uint32_t value) {
  const Index index = static_cast<Index>(value);
  std::memcpy(out + i * sizeof(Index), &index, sizeof(Index));
}

template <class Index>
void write_triangles(TriangleDecoder& decoder, const std::uint8_t* codes, std::size_t count, std::uint8_t* out) {
  for (std::size_t i = 0; i < count; i += 3) {
    const Triangle triangle = decoder.decode(*codes++);
    store<Index>(out, i, triangle.a);
    store<Index>(out, i + 1, triangle.b);
    store<Index>(out, i + 2, triangle.c);
  }
}

template <class Index>
void write_indices(Reader& data, std::size_t count, std::uint8_t* out) {
  std::uint32_t last[2] = {0, 0};
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t value = data.varint();
    store<Index>(out, i, last[value & 1] += unzigzag(value >> 1));
  }
}

}  // namespace

Decoded decode_triangles(Stream stream, std::int64_t count, std::int64_t index_size) {
  check_index_size(index_size);
  check_count(count);
  if (count % 3 != 0) refuse("count " + std::to_string(count) + " is no multiple of 3");
  check_length(stream, 1, "triangles");
  if (stream[0] != 0xe1) refuse_header(stream[0], "0xe1 (triangles)");
  const std::size_t indices = static_cast<std::size_t>(count);
  check_length(stream, 1 + indices / 3 + 16, "that many triangles");

  const std::uint8_t *codes = stream.data() + 1, *tail = stream.data() + stream.size() - 16;
  TriangleDecoder decoder(Reader(codes + indices / 3, tail), tail);
  Decoded decoded = allocate(indices * static_cast<std::size_t>(index_size));
  if (index_size == 2) {
    write_triangles<std::uint16_t>(decoder, codes, indices, decoded.bytes.get());
  } else {
    write_triangles<std::uint32_t>(decoder, codes, indices, decoded.bytes.get());
  }
  decoder.expect_end();
  return decoded;
}

Decoded decode_indices(Stream stream, std::int64_t count, std::int64_t index_size) {
  check_index_size(index_size);
  check_count(count);
  check_length(stream, 1, "indices");
  if (stream[0] != 0xd1) refuse_header(stream[0], "0xd1 (indices)");
  const std::size_t indices = static_cast<std::size_t>(count);
  check_length(stream, 1 + std::uint64_t{indices} + 4, "that many indices");

  Reader data(stream.data() + 1, stream.data() + stream.size() - 4);
  Decoded decoded = allocate(indices * static_cast<std::size_t>(index_size));
  if (index_size == 2) {
    write_indices<std::uint16_t>(data, indices, decoded.bytes.get());
  } else {
    write_indices<std::uint32_t>(data, indices, decoded.bytes.get());
  }
  data.expect_end();
  return decoded;
}

}  // namespace bunraku::meshopt
