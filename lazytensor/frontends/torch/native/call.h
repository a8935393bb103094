// A call of an operation, read into a key: the types of its tensors and all other arguments by value.

#pragma once

#include <ATen/core/ivalue.h>

#include <cstring>

#include "handles.h"

namespace {

using c10::IValue;
using Key = c10::SmallVector<int64_t, 32>;

constexpr Py_ssize_t VIEWS_BOUND = 1024;  // per storage, of what tensors show

enum Tag : int64_t { NONE, TENSOR, INT, FLOAT, BOOL, STRING, LIST, DEVICE };

struct KeyHash {
  size_t operator()(const Key& key) const {
    uint64_t h = key.size();
    for (int64_t part : key) {
      h = (h ^ static_cast<uint64_t>(part)) * 0x9E3779B97F4A7C15ull;
      h ^= h >> 29;
    }
    return h;
  }
};

// A call's arguments, read into a key.
class Call {
 public:
  Key key;
  c10::SmallVector<Reference, 4> nodes;

  // ordered: the results lie as the operands do.
  explicit Call(bool ordered) : ordered_(ordered) {}

  // Whether the arguments have a key.
  bool read(const IValue* arguments, size_t count) {
    key.push_back(static_cast<int64_t>(c10::typeMetaToScalarType(c10::get_default_dtype())));
    key.push_back(current);
    for (size_t i = 0; i < count; i++)
      if (!read(arguments[i])) return false;
    if (ordered_ && !in_rows_)
      for (const at::Tensor* tensor : tensors_)
        key.append(tensor->strides().begin(), tensor->strides().end());
    return true;
  }

 private:
  bool ordered_;
  bool in_rows_ = true;  // all tensors are contiguous
  c10::SmallVector<const at::Tensor*, 4> tensors_;

  // The place of a node among those that differ.
  size_t enter(Reference node) {
    size_t place = 0;
    while (place < nodes.size() && nodes[place].object != node.object) place++;
    if (place == nodes.size()) nodes.push_back(std::move(node));
    return place;
  }

  bool read(const IValue& value) {
    if (value.isTensor()) return read(value.toTensor());
    if (value.isNone()) return add(NONE, 0);
    if (value.isBool()) return add(BOOL, value.toBool());
    if (value.isInt()) return add(INT, value.toInt());
    if (value.isDouble()) return add_float(value.toDouble());
    if (value.isDevice()) return add_device(value.toDevice());
    if (value.isString()) return add_string(value.toStringRef());
    if (value.isTensorList() || value.isList()) return read_list(value.toListRef());
    return false;  // symbols, complex numbers, generators
  }

  bool read_list(c10::ArrayRef<IValue> values) {
    add(LIST, values.size());
    for (const IValue& value : values)
      if (!read(value)) return false;
    return true;
  }

  bool read(const at::Tensor& tensor) {
    if (!tensor.defined()) return add(NONE, 1);
    if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) return read_number(tensor);
    if (tensor.device().type() != TYPE || !tensor.has_storage() ||
        tensor.is_neg() || tensor.is_conj())
      return false;
    Reference handle = handle_of(tensor);
    if (!handle) return false;
    Reference node =
        is_cell(handle) ? checked(plans.node_of(handle.object)) : shown(tensor, handle.object);
    add(TENSOR, plans.type_of(node.object));
    const bool contiguous = tensor.is_contiguous();
    in_rows_ = in_rows_ && contiguous;
    tensors_.push_back(&tensor);
    // The first tensor may be written to: others with its storage are told apart.
    const bool is_first = tensor.storage().is_alias_of(tensors_.front()->storage());
    key.push_back(contiguous + 2 * is_first + 4 * is_cell(handle));
    key.push_back(enter(std::move(node)));
    return true;
  }

  // What a tensor shows whose storage is shown in several ways. `storage` remembers its views.
  static Reference shown(const at::Tensor& tensor, PyObject* storage) {
    Reference views = checked(PyObject_GetAttr(storage, names->geometries));
    Reference geometry = geometry_of(tensor);
    PyObject* view = PyDict_GetItemWithError(views.object, geometry.object);
    if (view != nullptr) return checked(PyObject_GetAttr(view, names->node));
    if (PyErr_Occurred()) throw python_error();
    Reference wrapped = checked(THPVariable_Wrap(tensor));
    Reference made = checked(PyObject_CallOneArg(plans.tensor_ref, wrapped.object));
    if (PyDict_Size(views.object) >= VIEWS_BOUND) PyDict_Clear(views.object);
    if (PyDict_SetItem(views.object, geometry.object, made.object) < 0) throw python_error();
    return checked(PyObject_GetAttr(made.object, names->node));
  }

  static Reference geometry_of(const at::Tensor& tensor) {
    c10::SmallVector<int64_t, 12> parts{
        static_cast<int64_t>(tensor.scalar_type()), tensor.storage_offset()};
    parts.append(tensor.sizes().begin(), tensor.sizes().end());
    parts.append(tensor.strides().begin(), tensor.strides().end());
    const char* bytes = reinterpret_cast<const char*>(parts.data());
    return checked(PyBytes_FromStringAndSize(bytes, parts.size() * sizeof(int64_t)));
  }

  bool read_number(const at::Tensor& tensor) {
    const at::Scalar number = tensor.item();
    if (number.isBoolean()) return add(BOOL, number.toBool());
    if (number.isIntegral(false)) return add(INT, number.toLong());
    return number.isFloatingPoint() && add_float(number.toDouble());
  }

  bool add(int64_t tag, int64_t value) {
    key.push_back(tag);
    key.push_back(value);
    return true;
  }

  bool add_device(c10::Device device) {
    return add(DEVICE, static_cast<int64_t>(device.type()) * 256 + device.index());
  }

  bool add_float(double value) {  // by its bits, which tell 0.0 from -0.0
    int64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return value == value && add(FLOAT, bits);
  }

  bool add_string(const std::string& text) {
    add(STRING, text.size());
    for (char letter : text) key.push_back(letter);
    return true;
  }
};

}  // namespace
