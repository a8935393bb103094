// What storages of the device hold: an object of Python's, or memory of the host's.
//
// A storage's handle is the context of its data pointer, which frees it. The device itself has no
// memory. Kernels hold the GIL while they look at a Python object. They hold `pointers` while they
// look at memory or exchange a storage's pointer: eager calls do without the GIL.

#pragma once

#include <ATen/ATen.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/utils/pybind.h>

#include <atomic>
#include <mutex>

#include "devices.h"

namespace {

namespace py = pybind11;

struct Reference {
  PyObject* object = nullptr;
  Reference() = default;
  explicit Reference(PyObject* owned) : object(owned) {}
  Reference(Reference&& other) noexcept : object(std::exchange(other.object, nullptr)) {}
  Reference& operator=(Reference&& other) noexcept {
    std::swap(object, other.object);
    return *this;
  }
  ~Reference() { Py_XDECREF(object); }
  explicit operator bool() const { return object != nullptr; }
};

Reference checked(PyObject* owned) {
  if (owned == nullptr) throw python_error();
  return Reference(owned);
}

// What `plans.py` does, by C function. Each gives a new reference, or null with an error set.
struct Plans {
  PyObject* (*node_of)(PyObject* cell);
  long long (*type_of)(PyObject* node);
  long long (*serial_of)(PyObject* node);
  PyObject* (*recorded)(PyObject* plan, PyObject* nodes);
  PyObject* (*written)(PyObject* cell, PyObject* plan, PyObject* nodes);
  PyObject* (*taken)();
  long long (*may_be_eager)();
  long long (*is_entered)(PyObject* cell);
  // Elements of a tensor that the host computes with at once, at most: of most operands, of those of
  // products, and of a matrix that few numbers are multiplied by or a table to look up in.
  int64_t eager_elements, eager_weights, eager_table;
  PyObject* cell_class;
  PyObject* storage_class;
  PyObject* tensor_ref;  // what holds a tensor's data, of a storage that is shown in several ways
  PyObject* share;
  PyObject* prepare_thread;
  PyObject* stream;     // of random numbers, where a call names no generator
  PyObject* stream_of;  // a generator's stream
  PyObject* memory_of;  // a CPU tensor with the elements that a cell holds
  PyObject* entered;    // the handle of a storage that has the memory of a CPU tensor
} plans;

// Names of attributes.
struct Names {
  PyObject* cell = PyUnicode_InternFromString("cell");
  PyObject* forget = PyUnicode_InternFromString("forget");
  PyObject* geometries = PyUnicode_InternFromString("geometries");
  PyObject* node = PyUnicode_InternFromString("node");
  PyObject* take = PyUnicode_InternFromString("take");
}* names;

// The memory of a storage whose small tensors are computed eagerly.
struct HostMemory {
  at::Tensor whole;        // dense, from the storage's first byte to the last
  bool is_shared = false;  // tensors show it in other ways than `whole` does
};

void free_handle(void* handle) {
  if (!Py_IsInitialized()) return;  // a tensor that has outlived the interpreter
  py::gil_scoped_acquire gil;
  Py_DECREF(static_cast<PyObject*>(handle));
}

void free_memory(void* memory) { delete static_cast<HostMemory*>(memory); }

c10::DataPtr pointing_to(PyObject* handle, c10::Device device) {
  Py_INCREF(handle);
  return {nullptr, handle, &free_handle, device};
}

// The memory of tensors of other devices is not the host's.
c10::DataPtr pointing_to(HostMemory* memory) { return {nullptr, memory, &free_memory, FIRST}; }

// Held for some instructions, in which nothing is freed and no Python code runs.
class SpinLock {
 public:
  void lock() noexcept {
    while (flag_.test_and_set(std::memory_order_acquire)) {}
  }
  void unlock() noexcept { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag flag_ = ATOMIC_FLAG_INIT;
} pointers;

// The memory that a storage of the device has, if any. The caller holds `pointers`.
HostMemory* memory_in(const c10::Storage& storage) {
  const c10::DataPtr& pointer = storage.data_ptr();
  if (pointer.get_deleter() != &free_memory) return nullptr;
  return static_cast<HostMemory*>(pointer.get_context());
}

// The same as a CPU tensor, which is undefined for a storage without memory.
at::Tensor whole_in(const c10::Storage& storage) {
  std::lock_guard<SpinLock> guard(pointers);
  const HostMemory* memory = memory_in(storage);
  return memory == nullptr ? at::Tensor() : memory->whole;
}

// Say that tensors show a storage in several ways. Whether it has memory.
bool share_memory(const c10::Storage& storage) {
  std::lock_guard<SpinLock> guard(pointers);
  HostMemory* memory = memory_in(storage);
  if (memory != nullptr) memory->is_shared = true;
  return memory != nullptr;
}

void point(const c10::Storage& storage, c10::DataPtr pointer) {
  {
    std::lock_guard<SpinLock> guard(pointers);
    pointer = storage.set_data_ptr(std::move(pointer));
  }
  // What the storage held before is freed here: that may run Python code.
}

// Whether a storage that had this memory holds a handle now. Not if another thread was quicker.
bool replace(const c10::Storage& storage, const HostMemory& seen, PyObject* handle) {
  c10::DataPtr pointer = pointing_to(handle, FIRST);
  std::lock_guard<SpinLock> guard(pointers);
  const HostMemory* memory = memory_in(storage);
  if (memory == nullptr || !memory->whole.is_same(seen.whole) ||
      memory->is_shared != seen.is_shared)
    return false;
  pointer = storage.set_data_ptr(std::move(pointer));
  return true;
}

// What a storage holds; null for a storage that holds nothing of ours. Memory becomes the value of a
// cell: what is asked for a handle is going to record.
Reference handle_in(const c10::Storage& storage) {
  while (true) {
    HostMemory seen;
    {
      std::lock_guard<SpinLock> guard(pointers);
      const c10::DataPtr& pointer = storage.data_ptr();
      if (pointer.get_deleter() == &free_memory) {
        seen = *static_cast<HostMemory*>(pointer.get_context());
      } else if (pointer.get_deleter() == &free_handle) {
        auto* found = static_cast<PyObject*>(pointer.get_context());
        Py_INCREF(found);
        return Reference(found);
      } else {
        return Reference();
      }
    }
    Reference whole = checked(THPVariable_Wrap(seen.whole));
    Reference handle = checked(PyObject_CallFunctionObjArgs(
        plans.entered, whole.object, seen.is_shared ? Py_True : Py_False, nullptr));
    if (replace(storage, seen, handle.object)) return handle;  // other threads may have run
  }
}

Reference handle_of(const at::Tensor& tensor) { return handle_in(tensor.storage()); }

bool is_cell(const Reference& handle) {
  return reinterpret_cast<PyObject*>(Py_TYPE(handle.object)) == plans.cell_class;
}

// Storages of the device have no memory, and any number of bytes.
struct NoMemory : c10::Allocator {
  c10::DataPtr allocate(size_t) override { return {nullptr, here()}; }
  void copy_data(void*, const void*, std::size_t) const override {}
};

// A storage of the device.
c10::Storage storage_of(c10::DataPtr pointer) {
  static auto* no_memory = new NoMemory;
  return c10::Storage(c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), 0, std::move(pointer), no_memory, true));
}

at::Tensor tensor_of(c10::Storage storage, c10::DispatchKey key, caffe2::TypeMeta dtype) {
  return at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(key), dtype);
}

}  // namespace
