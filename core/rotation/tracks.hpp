#pragma once
// What a track does between two neighbouring keys.

#include "rotation/axis_angle.hpp"
#include "rotation/interpolation.hpp"

namespace bunraku::BUNRAKU_LEVEL::rotation {

// The rotation vector of the turn from the earlier to the later key, over the time between them, in
// the world's axes.
struct AngularVelocity {
  static constexpr int kInputs[] = {4, 4, 1}, kOutputs[] = {3};  // later, earlier, step
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    Vector<T> back[4], turn[4];
    conjugate(in + 4, back);
    multiply(in, back, turn);
    const Mask<T> refused = ToRotationVector::apply<T>(turn, out, 0);
    for (int i = 0; i < 3; ++i) out[i] /= in[8];
    return refused;
  }
};

// The same in the axes of the key.
struct BodyVelocity {
  static constexpr int kInputs[] = {4, 4, 1}, kOutputs[] = {3};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    Vector<T> pair[9];
    conjugate(in + 4, pair);
    conjugate(in, pair + 4);
    pair[8] = in[8];
    return AngularVelocity::apply<T>(pair, out, 0);
  }
};

// Of a track's keys in the frame of a reference's: track later, earlier, reference later, earlier, step.
struct RelativeAngularVelocity {
  static constexpr int kInputs[] = {4, 4, 4, 4, 1}, kOutputs[] = {3};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    Vector<T> back[4], pair[9];
    for (int i = 0; i < 8; i += 4) {
      conjugate(in + 8 + i, back);
      multiply(back, in + i, pair + i);
    }
    pair[8] = in[16];
    return AngularVelocity::apply<T>(pair, out, 0);
  }
};

struct AngularSpeed {
  static constexpr int kInputs[] = {4, 4, 1}, kOutputs[] = {1};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    Vector<T> later[4] = {in[0], in[1], in[2], in[3]}, earlier[4] = {in[4], in[5], in[6], in[7]};
    const Mask<T> refused = normalize<T, 4>(later) | normalize<T, 4>(earlier);
    out[0] = angle_between<T>(later, earlier) / in[8];
    return refused;
  }
};

// The velocity of a spline at a key from those of the spans before and after it and their lengths:
// that of the parabola through three keys (Bessel), lowered until no handle (a third of a span's
// time) turns by more than half a turn.
struct KeyVelocity {
  static constexpr int kInputs[] = {3, 3, 1, 1}, kOutputs[] = {3};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    const Vector<T> before = in[6], after = in[7], longer = largest(before, after);
    for (int i = 0; i < 3; ++i) out[i] = (after * in[i] + before * in[3 + i]) / (after + before);
    const Vector<T> handle = longer / static_cast<T>(3) * root(square<T, 3>(out));
    const T pi = 2 * Fit<T>::kQuarter;
    const Vector<T> least = smallest(splat<T>(1), pi / largest(handle, splat<T>(1)));
    for (int i = 0; i < 3; ++i) out[i] *= least;
    return Mask<T>{};
  }
};

// A cubic Bézier curve from great arcs (de Casteljau's construction; Shoemake 1985): keys at the
// start and the end, the velocities there, the time between them, the part of it that has passed.
struct SplineSpan {
  static constexpr int kInputs[] = {4, 4, 3, 3, 1, 1}, kOutputs[] = {4};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    const Vector<T> third = in[14] / static_cast<T>(3);
    Vector<T> points[4][4], out_turn[3], back_turn[3], turn[4];
    for (int i = 0; i < 3; ++i) {
      out_turn[i] = third * in[8 + i];
      back_turn[i] = -third * in[11 + i];
    }
    for (int i = 0; i < 4; ++i) {
      points[0][i] = in[i];
      points[3][i] = in[4 + i];
    }
    Mask<T> refused = exponential<T>(out_turn, turn);
    multiply(in, turn, points[1]);
    refused |= exponential<T>(back_turn, turn);
    multiply(in + 4, turn, points[2]);
    for (int count = 3; count > 0; --count) {
      for (int i = 0; i < count; ++i) {
        Vector<T> arc[9], at[4];
        for (int c = 0; c < 4; ++c) {
          arc[c] = points[i][c];
          arc[4 + c] = points[i + 1][c];
        }
        arc[8] = in[15];
        SlerpAsStored::apply<T>(arc, at, 0);
        for (int c = 0; c < 4; ++c) points[i][c] = at[c];
      }
    }
    for (int i = 0; i < 4; ++i) out[i] = points[0][i];
    return refused;
  }
};

}  // namespace bunraku::BUNRAKU_LEVEL::rotation
