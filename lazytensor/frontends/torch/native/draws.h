// Random numbers of small tensors: those that the device's programs draw (`core/lib/random.py`).

#pragma once

#include <torch/csrc/Generator.h>

#include <cmath>
#include <limits>
#include <vector>

#include "eager.h"

namespace {

// Four words of one counter of Philox: `core/interpreter/kernels/philox.pyx`.
void (*philox_rounds)(uint32_t* words, uint64_t key, uint64_t low, uint64_t high);

// Numbers of [0, 1), by the words from one counter of a stream on.
template <class Real, class Word, int KEPT>
void draw_uniform(Real* numbers, int64_t count, uint64_t seed, uint64_t counter) {
  constexpr int64_t EACH = 16 / sizeof(Word);
  for (int64_t i = 0; i < count; i += EACH, counter++) {
    Word words[EACH];
    philox_rounds(reinterpret_cast<uint32_t*>(words), seed, counter, seed);
    for (int64_t j = 0; j < EACH && i + j < count; j++)
      numbers[i + j] = std::ldexp(static_cast<Real>(words[j] >> (sizeof(Word) * 8 - KEPT)), -KEPT);
  }
}

// Numbers of mean 0 and variance 1. counters: of the radius and of the angle.
template <class Real, class Word, int KEPT>
void draw_normal(Real* numbers, int64_t count, uint64_t seed, uint64_t radius, uint64_t angle) {
  std::vector<Real> angles(count);
  draw_uniform<Real, Word, KEPT>(numbers, count, seed, radius);
  draw_uniform<Real, Word, KEPT>(angles.data(), count, seed, angle);
  for (int64_t i = 0; i < count; i++)
    numbers[i] = std::sqrt(Real(-2) * std::log(Real(1) - numbers[i])) *
                 std::cos(angles[i] * Real(2 * M_PI));
}

// `uniform_` and `normal_` of a tensor at hand, in front of the Python kernel.
class EagerDraw : public c10::OperatorKernel {
 public:
  explicit EagerDraw(bool is_normal) : is_normal_(is_normal) {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
    prepare();
    const OnDevice device(op, *stack, -1);
    const c10::IValue* arguments = stack->data() + stack->size() - 4;
    const at::Tensor& tensor = arguments[0].toTensor();
    const double first = arguments[1].toDouble(), second = arguments[2].toDouble();
    const bool is_right = is_normal_ ? second >= 0 : first <= second && second - first <= MOST;
    const bool is_float =
        tensor.scalar_type() == at::kFloat || tensor.scalar_type() == at::kDouble;
    if (is_right && is_float &&
        EagerCall::may_have_memory(tensor, plans.eager_weights)) {
      const at::Tensor alias = EagerCall::alias_of(tensor);
      if (alias.defined()) {
        py::gil_scoped_acquire gil;
        const Reference stream = stream_of(arguments[3]);
        fill(alias, is_normal_, first, second, stream.object);
        return torch::jit::drop(*stack, 3);
      }
    }
    op.redispatchBoxed(c10::DispatchKeySet(BELOW), stack);
  }

  // Fill a CPU tensor with numbers from `first` to `second`, or of a mean and a deviation. stream:
  // where the words come from. The caller holds the GIL.
  static void fill(const at::Tensor& alias, bool is_normal, double first, double second,
                   PyObject* stream) {
    const at::Tensor made = alias.is_contiguous() ? alias : at::empty(alias.sizes(), alias.dtype());
    if (made.scalar_type() == at::kDouble)
      draw<double, uint64_t, 53>(made, is_normal, stream);
    else
      draw<float, uint32_t, 24>(made, is_normal, stream);
    if (first != 0 || second != 1)
      is_normal ? made.mul_(second).add_(first) : made.mul_(second - first).add_(first);
    if (!made.is_same(alias)) alias.copy_(made);
  }

 private:
  static constexpr double MOST = std::numeric_limits<float>::max();
  bool is_normal_;

  // A generator's stream. The caller holds the GIL.
  static Reference stream_of(const c10::IValue& generator) {
    if (generator.isNone()) {
      Py_INCREF(plans.stream);
      return Reference(plans.stream);
    }
    Reference wrapped = checked(THPGenerator_Wrap(generator.toGenerator()));
    return checked(PyObject_CallOneArg(plans.stream_of, wrapped.object));
  }

  template <class Real, class Word, int KEPT>
  static void draw(const at::Tensor& made, bool is_normal, PyObject* stream) {
    const int64_t count = made.numel();
    const uint64_t blocks = count * sizeof(Real) / 16 + 1;
    const auto [seed, counter] = taken(stream, is_normal ? 2 * blocks : blocks);
    Real* numbers = made.data_ptr<Real>();
    if (is_normal)
      draw_normal<Real, Word, KEPT>(numbers, count, seed, counter, counter + blocks);
    else
      draw_uniform<Real, Word, KEPT>(numbers, count, seed, counter);
  }

  static std::pair<uint64_t, uint64_t> taken(PyObject* stream, uint64_t blocks) {
    Reference count = checked(PyLong_FromUnsignedLongLong(blocks));
    Reference words = checked(PyObject_CallMethodOneArg(stream, names->take, count.object));
    return py::reinterpret_borrow<py::object>(words.object).cast<std::pair<uint64_t, uint64_t>>();
  }
};

}  // namespace
