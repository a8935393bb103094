// Eager calls: operations on small tensors of which the host has the elements.
//
// Recording, cutting and starting a program cost more than such an operation, so torch's own CPU
// kernel computes it at once. The results are in the host's memory again. A tensor has memory if it
// came from the host, or if an eager call made it; what a program computes has none. So a program's
// text decides which of its operations are eager, and not what has run before. What little programs
// compute, and what calls go on asking for, is brought back into memory (`plans.is_entered`).
//
// A storage's memory becomes a cell's value as soon as its handle is asked for (`handle_in`). The
// value of a cell that nobody else holds becomes memory again, as a copy.

#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <dlfcn.h>

#include "handles.h"

namespace {

constexpr int64_t GROWTH = 4;  // of operands' elements, by broadcasting, at most

at::Tensor with_geometry(at::Tensor made, const at::Tensor& other) {
  made.unsafeGetTensorImpl()->set_sizes_and_strides(
      other.sizes(), other.strides(), other.storage_offset());
  return made;
}

// One thread computes meanwhile: to wake others takes longer than a small operation.
class OneThread {
 public:
  OneThread() : before_(get_ == nullptr ? 1 : get_()) {
    if (before_ != 1) set_(1);
  }
  ~OneThread() {
    if (before_ != 1) set_(before_);
  }

 private:
  // OpenMP's functions in the library that torch uses, if it does; they set the calling thread's.
  static void* find(const char* name) {
    void* torch = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
    return torch == nullptr ? nullptr : dlsym(torch, name);
  }
  static inline int (*const get_)() = reinterpret_cast<int (*)()>(find("omp_get_max_threads"));
  static inline void (*const set_)(int) =
      reinterpret_cast<void (*)(int)>(find("omp_set_num_threads"));
  int before_;
};

// A tensor of the device that has the memory of a CPU tensor.
at::Tensor with_memory(const at::Tensor& made) {
  const bool is_whole = made.storage_offset() == 0 && made.is_non_overlapping_and_dense() &&
                        made.nbytes() == made.storage().nbytes();
  at::Tensor whole = made;
  if (!is_whole) {
    whole = tensor_of(made.storage(), c10::DispatchKey::CPU, made.dtype());
    const int64_t elements = made.storage().nbytes() / made.itemsize();
    whole.unsafeGetTensorImpl()->set_sizes_contiguous({elements});
  }
  auto* memory = new HostMemory{whole, !is_whole};
  return with_geometry(
      tensor_of(storage_of(pointing_to(memory)), c10::DispatchKey::PrivateUse1, made.dtype()), made);
}

// Whether the host computes as the device does.
bool is_common(at::ScalarType dtype) {
  return at::isIntegralType(dtype, true) || at::isComplexType(dtype) || dtype == at::kFloat ||
         dtype == at::kDouble;
}

constexpr auto BELOW = c10::DispatchKey::PrivateUse2;  // of Python kernels that others stand before

// Whether Python has prepared the thread, before its first call.
thread_local bool is_prepared = false;

void prepare() {
  if (is_prepared) return;
  py::gil_scoped_acquire gil;
  checked(PyObject_CallNoArgs(plans.prepare_thread));
  is_prepared = true;
}

// What is known of an operation's eager calls.
struct EagerRow {
  int64_t bound;          // elements of an operand, at most; 0: there are no eager calls
  int size_at = -1;       // the argument that is the result's shape
  int end_at = -1;        // of numbers in a row: where they end; before it where they start
  int table_at = -1;      // a matrix that the others are multiplied by, or a table
  int device_at = -1;     // the argument that is the result's device
  int chance_at = -1;     // of an operator that may draw: it does so with a chance above zero
  bool is_copy = false;   // operands and the result may be the CPU's
  bool is_linear_backward = false;
  bool is_lookup = false;
  bool is_number = false;  // of a number, which has no shape
  bool is_unset = false;  // of a result that nothing is written to, which is zero on the device

  EagerRow(const std::string& name, int64_t bound_) : bound(bound_) {
    const auto& op = c10::Dispatcher::singleton().findSchema(name_of(name));
    TORCH_CHECK(op.has_value(), "no schema of ", name);
    size_at = op->schema().argumentIndexWithName("size").value_or(-1);
    end_at = op->schema().argumentIndexWithName("end").value_or(-1);
    device_at = op->schema().argumentIndexWithName("device").value_or(-1);
    chance_at = op->schema().argumentIndexWithName("dropout_p").value_or(-1);
    const std::string base = name_of(name).name;
    if (bound == plans.eager_weights)
      for (const char* table : {"weight", "mat2"})
        if (auto at = op->schema().argumentIndexWithName(table)) table_at = *at;
    is_copy = base == "aten::_to_copy" || base == "aten::copy_";
    is_lookup = base == "aten::embedding";
    is_number = base == "aten::scalar_tensor";
    is_linear_backward = base == "aten::linear_backward";
    if (base != "aten::arange") end_at = -1;
    is_unset = base.find("empty") != std::string::npos;
  }

  static c10::OperatorName name_of(const std::string& name) {
    const size_t dot = name.find('.');
    if (dot == std::string::npos) return {name, ""};
    return {name.substr(0, dot), name.substr(dot + 1)};
  }
};

// `linear_backward`, which torch has no CPU kernel of.
void linear_backward(torch::jit::Stack* stack) {
  const std::vector<c10::IValue> given = torch::jit::pop(*stack, 4);
  const at::Tensor &x = given[0].toTensor(), &grad = given[1].toTensor();
  const at::Tensor& weight = given[2].toTensor();
  const auto wanted = given[3].toBoolList();
  const at::Tensor rows = grad.reshape({-1, grad.size(-1)});
  at::Tensor of_x, of_weight, of_bias;
  if (wanted.get(0)) of_x = rows.mm(weight).view(x.sizes());
  if (wanted.get(1)) of_weight = rows.t().mm(x.reshape({-1, x.size(-1)}));
  if (wanted.get(2)) of_bias = rows.sum(0);
  torch::jit::push(*stack, of_x, of_weight, of_bias);
}

class EagerCall {
 public:
  EagerCall(const EagerRow& row, const c10::OperatorHandle& op, torch::jit::Stack* stack)
      : row_(row), op_(op), stack_(stack), count_(op.schema().arguments().size()) {}

  // Whether the call is eager; it is done then. The caller need not hold the GIL.
  bool run() {
    if (row_.bound == 0) return false;
    const c10::IValue* arguments = stack_->data() + stack_->size() - count_;
    if (!are_small(arguments)) return false;
    if (!is_small_size(arguments) || !fits()) return false;
    if (given_.empty() && !(arrives_ && is_allowed())) return false;
    torch::jit::Stack inner;
    inner.reserve(count_);
    for (size_t i = 0; i < count_; i++)
      if (!enter(arguments[i], inner)) return ask_for_rest();
    try {
      const OneThread alone;
      c10::impl::ExcludeDispatchKeyGuard below(
          c10::autograd_dispatch_keyset_with_ADInplaceOrView | c10::autocast_dispatch_keyset);
      if (row_.is_linear_backward)
        linear_backward(&inner);
      else
        op_.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), &inner);
    } catch (const std::exception&) {
      return false;  // the Python kernel computes it, or says what is wrong
    }
    for (const c10::IValue& value : inner)
      if (!departs_ && !is_dense(value)) return false;
    if (!departs_)
      for (c10::IValue& value : inner) value = leaving(value);
    torch::jit::drop(*stack_, count_);
    for (c10::IValue& value : inner) stack_->push_back(std::move(value));
    return true;
  }

  // Whether a tensor is one of the device's with few elements, that shows them as they are.
  static bool may_have_memory(const at::Tensor& tensor, int64_t bound) {
    return tensor.device() == FIRST &&
           !tensor.unsafeGetTensorImpl()->has_symbolic_sizes_strides() && tensor.has_storage() &&
           tensor.numel() <= bound && !tensor.is_neg() && !tensor.is_conj() &&
           !tensor._is_zerotensor();
  }

  // A CPU tensor with the elements that a tensor shows of its storage's memory; an undefined one if
  // there is no memory.
  static at::Tensor alias_of(const at::Tensor& tensor) {
    at::Tensor whole = whole_in(tensor.storage());
    if (!whole.defined()) whole = brought(tensor.storage());
    if (!whole.defined() || shows_whole(tensor, whole)) return whole;
    return with_geometry(
        tensor_of(whole.storage(), c10::DispatchKey::CPU, tensor.dtype()), tensor);
  }

 private:
  struct Operand {
    at::Tensor given;  // of the device
    at::Tensor alias;  // the same elements, for the CPU
  };

  const EagerRow& row_;
  const c10::OperatorHandle& op_;
  torch::jit::Stack* stack_;
  size_t count_;
  c10::SmallVector<const at::Tensor*, 4> given_;
  c10::SmallVector<Operand, 4> operands_;
  int64_t bound_ = 0;      // elements of the operand that is looked at, at most
  const at::Tensor* table_ = nullptr;  // one beyond the bound of the others
  bool arrives_ = false;  // the result is asked for on the device
  bool departs_ = false;  // the result is asked for on the CPU

  static bool is_allowed() {
    py::gil_scoped_acquire gil;
    return plans.may_be_eager();
  }

  static bool shows_whole(const at::Tensor& tensor, const at::Tensor& whole) {
    return tensor.sizes() == whole.sizes() && tensor.strides() == whole.strides() &&
           tensor.storage_offset() == 0 && tensor.dtype() == whole.dtype();
  }

  // The memory of a storage that alone holds a cell, from now on: a copy of the cell's value.
  static at::Tensor brought(const c10::Storage& storage) {
    py::gil_scoped_acquire gil;
    const Reference handle = handle_in(storage);
    if (!handle || Py_REFCNT(handle.object) != 2) return at::Tensor();
    const bool is_shared = !is_cell(handle);
    const Reference cell = cell_in(handle);
    if (!is_cell(cell) || !plans.is_entered(cell.object) || !is_allowed()) return at::Tensor();
    // It remembers what tensors show, which refers to the cell.
    if (is_shared) checked(PyObject_CallMethodNoArgs(handle.object, names->forget));
    const auto is_alone = [&] {
      if (storage.data_ptr().get_context() != handle.object) return false;
      if (!is_shared) return Py_REFCNT(handle.object) == 3;
      return Py_REFCNT(handle.object) == 2 && Py_REFCNT(cell.object) == 2;
    };
    if (!is_alone()) return at::Tensor();
    const Reference copy = checked(PyObject_CallOneArg(plans.memory_of, handle.object));
    if (!is_alone()) return whole_in(storage);  // other threads may have run meanwhile
    const at::Tensor whole = THPVariable_Unpack(copy.object);
    point(storage, pointing_to(new HostMemory{whole, is_shared}));
    return whole;
  }

  // The cell of a handle, or what it has in its place.
  static Reference cell_in(const Reference& handle) {
    if (!is_cell(handle)) return checked(PyObject_GetAttr(handle.object, names->cell));
    Py_INCREF(handle.object);
    return Reference(handle.object);
  }

  // Ask for a product's operands that were not entered: weights count what is asked for. Never true.
  bool ask_for_rest() const {
    const size_t first = operands_.size() + 1;
    if (row_.bound != plans.eager_weights || first >= given_.size()) return false;
    py::gil_scoped_acquire gil;
    for (size_t i = first; i < given_.size(); i++) {
      const c10::Storage& storage = given_[i]->storage();
      if (whole_in(storage).defined()) continue;
      const Reference handle = handle_in(storage);
      if (!handle) continue;
      const Reference cell = cell_in(handle);
      if (is_cell(cell)) plans.is_entered(cell.object);
    }
    return false;
  }

  bool are_small(const c10::IValue* arguments) {
    for (size_t i = 0; i < count_; i++) {
      bound_ = static_cast<int>(i) == row_.table_at ? plans.eager_table : row_.bound;
      if (!is_small(arguments[i])) return false;
    }
    if (table_ == nullptr) return true;
    for (const at::Tensor* tensor : given_)
      if (tensor != table_ && tensor->numel() > plans.eager_elements) return false;
    return true;
  }

  bool is_small(const c10::IValue& value) {
    if (value.isTensor()) return is_small(value.toTensor());
    if (value.isTensorList() || value.isOptionalTensorList()) {
      for (const c10::IValue& item : value.toListRef())
        if (item.isTensor() && !is_small(item.toTensor())) return false;
      return true;
    }
    if (!value.isDevice()) return true;
    const c10::Device device = value.toDevice();
    arrives_ = device == FIRST || (current == 0 && device == c10::Device(TYPE));
    departs_ = row_.is_copy && device.is_cpu();
    return arrives_ || departs_;
  }

  bool is_small(const at::Tensor& tensor) {
    if (is_plain(tensor)) return tensor.numel() <= bound_;
    if (!may_have_memory(tensor, bound_) || !is_common(tensor.scalar_type())) return false;
    if (tensor.numel() > row_.bound) table_ = &tensor;
    given_.push_back(&tensor);
    return true;
  }

  // Whether the CPU's kernel takes a tensor as it is.
  bool is_plain(const at::Tensor& tensor) const {
    return !tensor.defined() || tensor.unsafeGetTensorImpl()->is_wrapped_number() ||
           (row_.is_copy && tensor.device().is_cpu() && tensor.layout() == at::kStrided &&
            !tensor._is_zerotensor());
  }

  bool is_small_size(const c10::IValue* arguments) const {
    if (row_.chance_at >= 0 && arguments[row_.chance_at].toDouble() != 0) return false;
    if (row_.end_at >= 0) return is_short(arguments + row_.end_at);
    if (row_.size_at < 0) return !given_.empty() || row_.is_copy || row_.is_number;
    if (!arguments[row_.size_at].isIntList()) return false;
    int64_t elements = 1;
    for (int64_t n : arguments[row_.size_at].toIntVector()) elements *= n;
    return elements <= row_.bound;
  }

  // Whether a row of numbers is short. end: an argument, between those of the start and of the step.
  bool is_short(const c10::IValue* end) const {
    const double start = row_.end_at == 0 ? 0 : end[-1].toScalar().toDouble();
    const double step = end[1].isScalar() ? end[1].toScalar().toDouble() : 1;
    return std::abs(end->toScalar().toDouble() - start) <=
           std::abs(step) * static_cast<double>(row_.bound);
  }

  // Whether what the operands broadcast to is small: a result may have as many elements.
  bool fits() const {
    if (table_ != nullptr) return fits_with_table();
    int64_t elements = 1;
    for (int64_t axis = 1;; axis++) {
      int64_t most = 0;
      for (const at::Tensor* tensor : given_)
        if (axis <= tensor->dim()) most = std::max(most, tensor->size(-axis));
      if (most == 0) return true;
      elements *= most;
      if (elements > GROWTH * row_.bound) return false;
    }
  }

  // The same for the rows that are looked up in a large table, or for the products with it.
  bool fits_with_table() const {
    const at::Tensor* other = nullptr;
    for (const at::Tensor* tensor : given_)
      if (tensor != table_ && (other == nullptr || tensor->dim() > 1)) other = tensor;
    if (other == nullptr || table_->dim() != 2) return false;
    if (row_.is_lookup) return other->numel() * table_->size(1) <= row_.bound;
    if (other->dim() == 0 || other->size(-1) == 0) return false;
    const int64_t terms = other->size(-1);
    return other->numel() / terms * (table_->numel() / terms) <= row_.bound;
  }

  bool enter(const c10::IValue& value, torch::jit::Stack& inner) {
    if (value.isTensor()) {
      at::Tensor alias;
      if (!enter(value.toTensor(), alias)) return false;
      inner.emplace_back(std::move(alias));
    } else if (value.isTensorList() || value.isOptionalTensorList()) {
      c10::List<c10::IValue> items = value.toList().copy();
      for (size_t i = 0; i < items.size(); i++) {
        const c10::IValue item = items.get(i);
        at::Tensor alias;
        if (!item.isTensor()) continue;
        if (!enter(item.toTensor(), alias)) return false;
        items.set(i, std::move(alias));
      }
      inner.emplace_back(std::move(items));
    } else if (value.isDevice()) {
      inner.emplace_back(c10::Device(c10::DeviceType::CPU));
    } else {
      inner.push_back(value);
    }
    return true;
  }

  bool enter(const at::Tensor& tensor, at::Tensor& alias) {
    if (is_plain(tensor)) {
      alias = tensor;
      if (row_.is_copy) operands_.push_back({tensor, tensor});
      return true;
    }
    alias = alias_of(tensor);
    if (!alias.defined()) return false;
    operands_.push_back({tensor, alias});
    return true;
  }

  // Whether torch fills what nothing is written to.
  static bool is_filled() {
    const at::Context& context = at::globalContext();
    return context.deterministicAlgorithms() && context.deterministicFillUninitializedMemory();
  }

  static bool is_dense(const c10::IValue& value) {
    if (value.isTensorList()) {
      for (const at::Tensor& tensor : value.toTensorList())
        if (!is_dense(tensor)) return false;
      return true;
    }
    return !value.isTensor() || is_dense(value.toTensor());
  }

  static bool is_dense(const at::Tensor& made) {
    return !made.defined() || (made.layout() == at::kStrided && !made.is_nested() &&
                               !made.is_conj() && !made.is_neg() && !made._is_zerotensor());
  }

  c10::IValue leaving(const c10::IValue& value) {
    if (value.isTensor()) return leaving(value.toTensor());
    if (!value.isTensorList()) return value;
    c10::List<at::Tensor> made;
    for (const at::Tensor& tensor : value.toTensorList()) made.push_back(leaving(tensor));
    return made;
  }

  // A result, on the device.
  at::Tensor leaving(const at::Tensor& made) {
    if (!made.defined()) return made;
    for (const Operand& operand : operands_) {
      if (made.is_same(operand.alias)) return operand.given;
      if (operand.given.device().is_cpu() ||
          !made.storage().is_alias_of(operand.alias.storage()))
        continue;
      at::Tensor shown = with_geometry(
          tensor_of(operand.given.storage(), c10::DispatchKey::PrivateUse1, made.dtype()), made);
      share_memory(shown.storage());
      return shown;
    }
    if (row_.is_unset && !is_filled()) made.zero_();
    return with_memory(made);
  }
};

// An operation that torch composes, above autograd: eager if nothing asks for a derivative. Else the
// Python kernel looks at the call.
class EagerAbove : public c10::OperatorKernel {
 public:
  EagerAbove(const std::string& name, int64_t bound)
      : row_(name, bound), is_layer_norm_(name == "aten::layer_norm") {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
    prepare();
    const OnDevice device(op, *stack, row_.device_at);
    const size_t count = op.schema().arguments().size();
    const bool is_differentiated = differentiates(stack->data() + stack->size() - count, count);
    if (!is_differentiated && EagerCall(row_, op, stack).run()) return;
    if (is_differentiated && is_layer_norm_) return normalize(stack);
    op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::AutogradPrivateUse2), stack);
  }

 private:
  EagerRow row_;
  bool is_layer_norm_;

  static bool differentiates(const c10::IValue* arguments, size_t count) {
    for (size_t i = 0; i < count; i++) {
      if (!arguments[i].isTensor()) continue;
      const at::Tensor& tensor = arguments[i].toTensor();
      if (tensor.defined() && ((at::GradMode::is_enabled() && tensor.requires_grad()) ||
                               tensor._fw_grad(0).defined()))
        return true;
    }
    return false;
  }

  // Torch's composition of `layer_norm`.
  static void normalize(torch::jit::Stack* stack) {
    const std::vector<c10::IValue> given = torch::jit::pop(*stack, 6);
    const auto shape = given[1].toIntVector();
    torch::jit::push(
        *stack, std::get<0>(at::native_layer_norm(given[0].toTensor(), shape,
                                                  given[2].toOptional<at::Tensor>(),
                                                  given[3].toOptional<at::Tensor>(),
                                                  given[4].toDouble())));
  }
};

}  // namespace
