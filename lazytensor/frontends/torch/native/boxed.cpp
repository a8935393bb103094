// The boxed kernel: it stands in front of an operation's Python kernel on the device.
//
// A call is read into a key: the types of its tensors and all other arguments by value. A key with a
// plan is recorded from that (`plans.py`) without Python code. Any other call goes to the Python
// kernel, which lies under the dispatch key `BELOW`, and teaches the plan if its results hold exactly
// the nodes that the plan recorded, over exactly the nodes that were read. Before all this, a call on
// small tensors may be eager (`eager.h`).
//
// Invariants:
// - A key says everything that the Python kernel's result depends on, but for the nodes' values.
//   What it cannot say has no key.
// - References to operands are kept while a plan is learned, as a view that is read twice may give two
//   nodes. Otherwise none is kept while Python code runs: references decide what a cut computes.
// - Every Python kernel of the device has a kernel of these in front: it makes the device of the
//   operands the current one (`devices.h`).
// - The GIL is held wherever a Python object is touched. The tables are only used with it held.

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/Storage.h>
#include <torch/library.h>

#include <pthread.h>

#include <memory>
#include <unordered_map>
#include <vector>

#include "call.h"
#include "draws.h"
#include "eager.h"
#include "handles.h"

namespace {

using torch::jit::Stack;
constexpr size_t PLANS_BOUND = 20'000;  // per operation; a full table is emptied

struct Layout {
  std::vector<int64_t> sizes;
  caffe2::TypeMeta dtype;
  py::object strides;  // a tuple; null for rows
  bool exists = true;
};

struct Plan {
  py::object plan;
  std::vector<Layout> layouts;
};

using Table = std::unordered_map<Key, std::shared_ptr<const Plan>, KeyHash>;

// A tensor of its own whose storage holds a cell.
at::Tensor holding(Reference cell, const Layout& layout) {
  if (layout.strides)
    cell = checked(PyObject_CallFunctionObjArgs(
        plans.storage_class, cell.object, layout.strides.ptr(), nullptr));
  at::Tensor made =
      tensor_of(storage_of(pointing_to(cell.object, here())), c10::DispatchKey::PrivateUse1,
                layout.dtype);
  if (layout.strides)
    made.unsafeGetTensorImpl()->set_sizes_and_strides(
        layout.sizes, layout.strides.cast<std::vector<int64_t>>());
  else
    made.unsafeGetTensorImpl()->set_sizes_contiguous(layout.sizes);
  return made;
}

class Boxed : public c10::OperatorKernel {
 public:
  Boxed(const std::string& name, int64_t bound, py::object row, bool ordered, bool writes,
        size_t results)
      : eager_(name, bound), row_(row.release().ptr()), ordered_(ordered), writes_(writes),
        results_(results) {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet, Stack* stack) {
    const size_t count = op.schema().arguments().size();
    prepare();
    const OnDevice device(op, *stack, eager_.device_at);
    if (EagerCall(eager_, op, stack).run()) return;
    py::gil_scoped_acquire gil;
    Call call(ordered_);
    if (!call.read(stack->data() + stack->size() - count, count)) {
      call.nodes.clear();
      return below(op, stack);
    }
    const auto found = known_->find(call.key);
    if (found != known_->end()) {
      const std::shared_ptr<const Plan> plan = found->second;  // a cut may empty the table
      return replay(*plan, call, stack, count);
    }
    std::vector<int64_t> serials;
    for (const Reference& node : call.nodes) serials.push_back(plans.serial_of(node.object));
    checked(plans.taken());  // what another kernel has left
    below(op, stack);
    learn(std::move(call.key), serials, *stack);
  }

  void forget() { known_->clear(); }

 private:
  EagerRow eager_;
  // Never freed: the dispatcher frees its kernels when Python is gone.
  PyObject* row_;
  Table* known_ = new Table;
  bool ordered_;  // results lie as the operands do
  bool writes_;   // the result is the first argument, which is written to
  size_t results_;

  static void below(const c10::OperatorHandle& op, Stack* stack) {
    op.redispatchBoxed(c10::DispatchKeySet(BELOW), stack);
  }

  void replay(const Plan& plan, const Call& call, Stack* stack, size_t count) const {
    Reference nodes = checked(PyTuple_New(call.nodes.size()));
    for (size_t i = 0; i < call.nodes.size(); i++) {
      Py_INCREF(call.nodes[i].object);
      PyTuple_SET_ITEM(nodes.object, i, call.nodes[i].object);
    }
    if (writes_) {
      Reference cell = handle_of((stack->end() - count)->toTensor());
      checked(plans.written(cell.object, plan.plan.ptr(), nodes.object));
      torch::jit::drop(*stack, count - 1);
      return;
    }
    Reference cells = checked(plans.recorded(plan.plan.ptr(), nodes.object));
    torch::jit::drop(*stack, count);
    Py_ssize_t at = 0;
    for (const Layout& layout : plan.layouts) {
      if (!layout.exists) {
        stack->emplace_back(at::Tensor());
        continue;
      }
      PyObject* cell = PyTuple_GET_ITEM(cells.object, at++);
      Py_INCREF(cell);
      stack->emplace_back(holding(Reference(cell), layout));
    }
  }

  // Keep the plan that the Python kernel has replayed, if the results hold what that recorded.
  void learn(Key key, const std::vector<int64_t>& serials, const Stack& stack) {
    py::object note = py::reinterpret_steal<py::object>(checked_pointer(plans.taken()));
    if (note.is_none()) return;
    const auto said = note.cast<py::tuple>();
    if (said[0].ptr() != row_ || said[2].cast<std::vector<int64_t>>() != serials) return;
    const auto made = said[3].cast<std::vector<int64_t>>();
    Plan plan{said[1], {}};
    size_t at = 0;
    for (size_t i = 0; i < results_; i++) {
      const IValue& value = stack[stack.size() - results_ + i];
      if (value.isNone() || (value.isTensor() && !value.toTensor().defined())) {
        plan.layouts.push_back({{}, {}, {}, false});
        continue;
      }
      if (!value.isTensor() || at == made.size() || !learn(value.toTensor(), made[at++], plan))
        return;
    }
    if (at != made.size()) return;
    if (known_->size() >= PLANS_BOUND) known_->clear();
    known_->insert_or_assign(std::move(key), std::make_shared<const Plan>(std::move(plan)));
  }

  // Whether a result holds just this node, in a tensor of its own.
  bool learn(const at::Tensor& tensor, int64_t serial, Plan& plan) const {
    Reference handle = handle_of(tensor);
    if (!handle || !tensor.numel() || tensor.storage_offset()) return false;
    py::object strides;
    if (!is_cell(handle)) {
      if (writes_ || reinterpret_cast<PyObject*>(Py_TYPE(handle.object)) != plans.storage_class)
        return false;
      const auto storage = py::reinterpret_borrow<py::object>(handle.object);
      strides = py::cast(tensor.strides().vec()).cast<py::tuple>();
      handle = Reference(py::object(storage.attr("cell")).release().ptr());
      if (!is_cell(handle) || !strides.equal(storage.attr("lies"))) return false;
    }
    Reference node = checked(plans.node_of(handle.object));
    const auto shape = py::handle(node.object).attr("type").attr("shape");
    if (shape.cast<std::vector<int64_t>>() != tensor.sizes().vec()) return false;
    plan.layouts.push_back({tensor.sizes().vec(), tensor.dtype(), std::move(strides)});
    return plans.serial_of(node.object) == serial;
  }

  static PyObject* checked_pointer(PyObject* owned) {
    if (owned == nullptr) throw python_error();
    return owned;
  }
};

std::vector<Boxed*> kernels;  // the dispatcher owns them, as long as the process lasts

// A view that torch makes, of a storage that says from then on that it is shown in several ways.
class BoxedView : public c10::OperatorKernel {
 public:
  explicit BoxedView(c10::DispatchKey key) : key_(key) {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet, Stack* stack) {
    const size_t count = op.schema().arguments().size();
    const IValue* arguments = stack->data() + stack->size() - count;
    const bool direct = is_prepared && shares(arguments[0].toTensor()) &&
                        (key_ != c10::DispatchKey::Meta || fits(arguments));
    op.redispatchBoxed(c10::DispatchKeySet(direct ? key_ : BELOW), stack);
  }

 private:
  c10::DispatchKey key_;  // of torch's kernel, which touches no memory

  static bool shares(const at::Tensor& tensor) {
    if (share_memory(tensor.storage())) return true;
    py::gil_scoped_acquire gil;
    Reference handle = handle_of(tensor);
    if (!handle) return false;
    if (is_cell(handle)) {
      Reference storage = checked(THPStorage_Wrap(tensor.storage()));
      checked(PyObject_CallOneArg(plans.share, storage.object));
    }
    return true;
  }

  // Whether `as_strided` reaches no further than the tensor itself. The Python kernel judges others.
  static bool fits(const IValue* arguments) {
    const at::Tensor& tensor = arguments[0].toTensor();
    if (!arguments[1].isIntList() || !arguments[2].isIntList()) return false;
    const auto sizes = arguments[1].toIntVector(), strides = arguments[2].toIntVector();
    if (!arguments[3].isNone() && !arguments[3].isInt()) return false;
    const int64_t start = arguments[3].isNone() ? tensor.storage_offset() : arguments[3].toInt();
    return sizes.size() == strides.size() && start >= 0 &&
           reach(sizes, strides, start) <=
               reach(tensor.sizes(), tensor.strides(), tensor.storage_offset());
  }

  static int64_t reach(c10::IntArrayRef sizes, c10::IntArrayRef strides, int64_t start) {
    for (size_t i = 0; i < sizes.size(); i++) {
      if (sizes[i] == 0) return 0;
      if (strides[i] < 0 || sizes[i] < 0) return INT64_MAX;
      start += (sizes[i] - 1) * strides[i];
    }
    return start + 1;
  }
};

// A Python kernel that records no plans, behind eager calls.
class EagerFirst : public c10::OperatorKernel {
 public:
  EagerFirst(const std::string& name, int64_t bound) : eager_(name, bound) {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet, Stack* stack) {
    prepare();
    const OnDevice device(op, *stack, eager_.device_at);
    if (EagerCall(eager_, op, stack).run()) return;
    op.redispatchBoxed(c10::DispatchKeySet(BELOW), stack);
  }

 private:
  EagerRow eager_;
};

// Operations without a kernel of ours: the Python fallback lies below.
class Fallback : public c10::OperatorKernel {
 public:
  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet, Stack* stack) {
    const auto device_at = op.schema().argumentIndexWithName("device").value_or(-1);
    const OnDevice device(op, *stack, device_at);
    op.redispatchBoxed(c10::DispatchKeySet(BELOW), stack);
  }
};

void fallback() {
  static auto* made = new torch::Library(torch::Library::IMPL, "_", c10::DispatchKey::PrivateUse1,
                                         __FILE__, __LINE__);
  made->fallback(torch::CppFunction::makeFromBoxedFunctor(std::make_unique<Fallback>()));
}

// Never freed: kernels outlast the interpreter's cleanup.
template <c10::DispatchKey KEY = c10::DispatchKey::PrivateUse1>
torch::Library& library() {
  static auto* made =
      new torch::Library(torch::Library::IMPL, "aten", KEY, __FILE__, __LINE__);
  return *made;
}

void view(const std::string& name, bool is_meta) {
  auto key = is_meta ? c10::DispatchKey::Meta : c10::DispatchKey::CPU;
  library().impl(name.c_str(), torch::CppFunction::makeFromBoxedFunctor(
                                   std::make_unique<BoxedView>(key)));
}

void eager_first(const std::string& name, int64_t bound) {
  library().impl(name.c_str(), torch::CppFunction::makeFromBoxedFunctor(
                                   std::make_unique<EagerFirst>(name, bound)));
}

void above(const std::string& name, int64_t bound) {
  library<c10::DispatchKey::AutogradPrivateUse1>().impl(
      name.c_str(),
      torch::CppFunction::makeFromBoxedFunctor(std::make_unique<EagerAbove>(name, bound)));
}

void draw(const std::string& name, bool is_normal) {
  library().impl(name.c_str(), torch::CppFunction::makeFromBoxedFunctor(
                                   std::make_unique<EagerDraw>(is_normal)));
}

void impl(const std::string& name, int64_t bound, py::object row, bool ordered, bool writes,
          size_t results) {
  auto kernel = std::make_unique<Boxed>(name, bound, std::move(row), ordered, writes, results);
  kernels.push_back(kernel.get());
  library().impl(name.c_str(), torch::CppFunction::makeFromBoxedFunctor(std::move(kernel)));
}

void forget() {
  for (Boxed* kernel : kernels) kernel->forget();
}

template <class Function>
void bind(const py::dict& functions, const char* name, Function*& function) {
  auto capsule = functions[name].cast<py::capsule>();
  function = reinterpret_cast<Function*>(capsule.get_pointer<void>());
}

// The property `handle` of torch's storages.
py::object get_handle(const py::object& storage) {
  Reference found = handle_in(THPStorage_Unpack(storage.ptr()));
  if (!found) throw py::attribute_error("handle: a storage of another device has none");
  return py::reinterpret_steal<py::object>(std::exchange(found.object, nullptr));
}

void set_handle(const py::object& storage, const py::object& handle) {
  const c10::Storage unpacked = THPStorage_Unpack(storage.ptr());
  point(unpacked, pointing_to(handle.ptr(), unpacked.device()));
}

// A tensor in rows, on the current device, whose storage has this handle.
at::Tensor tensor_holding(const py::object& handle, at::IntArrayRef shape, at::ScalarType dtype) {
  at::Tensor made =
      tensor_of(storage_of(pointing_to(handle.ptr(), here())), c10::DispatchKey::PrivateUse1,
                c10::scalarTypeToTypeMeta(dtype));
  made.unsafeGetTensorImpl()->set_sizes_contiguous(shape);
  return made;
}

// Whether a tensor of the device is within a bound of elements, and the host has them.
bool is_at_hand(const at::Tensor& tensor, int64_t bound) {
  return EagerCall::may_have_memory(tensor, bound) &&
         EagerCall::alias_of(tensor).defined();
}

// Give the storage of a tensor this memory, which is dense.
void put_at_hand(const at::Tensor& tensor, const at::Tensor& whole, bool is_shared) {
  point(tensor.storage(), pointing_to(new HostMemory{whole, is_shared}));
}

void prepare_with(py::object prepare_thread) {
  plans.prepare_thread = prepare_thread.release().ptr();
}

void start(const py::dict& functions, const py::dict& generator,
           const std::tuple<int64_t, int64_t, int64_t>& bounds, const py::dict& objects) {
  names = new Names;
  pthread_atfork([] { pointers.lock(); }, [] { pointers.unlock(); }, [] { pointers.unlock(); });
  bind(functions, "node_of", plans.node_of);
  bind(functions, "type_of", plans.type_of);
  bind(functions, "serial_of", plans.serial_of);
  bind(functions, "recorded", plans.recorded);
  bind(functions, "written", plans.written);
  bind(functions, "taken", plans.taken);
  bind(functions, "may_be_eager", plans.may_be_eager);
  bind(functions, "is_entered", plans.is_entered);
  bind(generator, "rounds", philox_rounds);
  std::tie(plans.eager_elements, plans.eager_weights, plans.eager_table) = bounds;
  const auto kept = [&](const char* name) { return py::object(objects[name]).release().ptr(); };
  plans.cell_class = kept("Cell");
  plans.storage_class = kept("Storage");
  plans.tensor_ref = kept("ref");
  plans.share = kept("share");
  plans.memory_of = kept("memory_of");
  plans.entered = kept("entered");
  plans.stream = kept("stream");
  plans.stream_of = kept("stream_of");
}

}  // namespace

PYBIND11_MODULE(lazytensor_boxed, m) {
  m.def("start", &start);
  m.def("get_handle", &get_handle);
  m.def("set_handle", &set_handle);
  m.def("guard", &guard);
  m.def("holding", &tensor_holding);
  m.def("current_device", [] { return current; });
  m.def("exchange_device", &exchange);
  m.def("set_device_count", [](int count) { devices_there = count; });
  m.def("fallback", &fallback);
  m.def("impl", &impl);
  m.def("view", &view);
  m.def("eager_first", &eager_first);
  m.def("prepare_with", &prepare_with);
  m.def("above", &above);
  m.def("draw", &draw);
  m.def("alias", &EagerCall::alias_of);
  m.def("with_memory", &with_memory);
  m.def("alone", [](const py::function& function, const py::args& args, const py::kwargs& named) {
    const OneThread alone;
    return function(*args, **named);
  });
  m.def("fill_uniform", [](const at::Tensor& made, const py::object& stream) {
    EagerDraw::fill(made, false, 0, 1, stream.ptr());
  });
  m.def("is_at_hand", &is_at_hand);
  m.def("put_at_hand", &put_at_hand);
  m.def("forget", &forget);
}
