// Devices by number: on which one a thread makes tensors, and on which one a call's operands are.
//
// Torch keeps a tensor's number. Where its value is follows from what it is computed of
// (`core/runtime/sharded.py`). Nothing is looked at until something names a second device.

#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <atomic>

namespace {

constexpr auto TYPE = c10::DeviceType::PrivateUse1;
const c10::Device FIRST(TYPE, 0);

std::atomic<bool> are_several{false};  // a second device has been named
std::atomic<int> devices_there{1};
thread_local c10::DeviceIndex current = 0;

// Where this thread makes tensors.
c10::Device here() { return c10::Device(TYPE, current); }

// Makes another device the current one. The result is the one before.
c10::DeviceIndex exchange(c10::DeviceIndex index) {
  if (index > 0) are_several = true;
  return index < 0 ? current : std::exchange(current, index);
}

// The device of a call's results is the current one meanwhile: the one that the call names, or else
// that of its operands. These must be on one device, except in copies.
class OnDevice {
 public:
  // device_at: the argument that names a device; -1 if there is none.
  OnDevice(const c10::OperatorHandle& op, const torch::jit::Stack& stack, int device_at)
      : before_(current) {
    const size_t count = op.schema().arguments().size();
    const c10::IValue* arguments = stack.data() + stack.size() - count;
    if (!are_several && (device_at < 0 || !is_later(arguments[device_at]))) return;
    are_several = true;
    for (size_t i = 0; i < count; i++) read(arguments[i]);
    if (other_ >= 0) check(op.schema().name());
    if (named_ >= 0 || found_ >= 0) current = named_ >= 0 ? named_ : found_;
  }
  ~OnDevice() { current = before_; }

 private:
  c10::DeviceIndex before_;
  c10::DeviceIndex named_ = -1;
  c10::DeviceIndex found_ = -1;  // of the first operand
  c10::DeviceIndex other_ = -1;  // of an operand that is elsewhere

  // Whether a value is a device of ours other than the first.
  static bool is_later(const c10::IValue& value) {
    return value.isDevice() && value.toDevice().type() == TYPE && value.toDevice().index() > 0;
  }

  void read(const c10::IValue& value) {
    if (value.isTensor()) {
      const at::Tensor& tensor = value.toTensor();
      if (!tensor.defined() || tensor.device().type() != TYPE) return;
      const c10::DeviceIndex index = tensor.device().index();
      if (found_ < 0) found_ = index;
      if (index != found_) other_ = index;
    } else if (value.isTensorList() || value.isOptionalTensorList()) {
      for (const c10::IValue& item : value.toListRef()) read(item);
    } else if (value.isDevice() && value.toDevice().type() == TYPE) {
      named_ = value.toDevice().has_index() ? value.toDevice().index() : before_;
    }
  }

  void check(const std::string& name) const {
    TORCH_CHECK(name.find("copy") != std::string::npos,
                "Expected all tensors to be on the same device, but found at least two devices, ",
                c10::Device(TYPE, found_), " and ", c10::Device(TYPE, other_), "! (when calling ",
                name, ")");
  }
};

// Torch asks the guard several times an operation: one in Python would take the GIL each time.
struct Guard final : c10::impl::NoOpDeviceGuardImpl<c10::DeviceType::PrivateUse1> {
  c10::Device exchangeDevice(c10::Device device) const override {
    return c10::Device(TYPE, exchange(device.index()));
  }
  c10::Device getDevice() const override { return here(); }
  void setDevice(c10::Device device) const override { exchange(device.index()); }
  void uncheckedSetDevice(c10::Device device) const noexcept override { exchange(device.index()); }
  c10::DeviceIndex deviceCount() const noexcept override { return devices_there; }
  c10::Stream getStream(c10::Device device) const noexcept override { return stream(device); }
  c10::Stream getNewStream(c10::Device device, int) const override { return stream(device); }
  c10::Stream exchangeStream(c10::Stream given) const noexcept override {
    return stream(given.device());
  }
  // Programs run in the order in which they are started.
  void record(void**, const c10::Stream&, c10::DeviceIndex, c10::EventFlag) const override {}
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  void destroyEvent(void*, c10::DeviceIndex) const noexcept override {}

 private:
  static c10::Stream stream(c10::Device device) {
    return c10::Stream(c10::Stream::DEFAULT, device);
  }
};

void guard() {
  static Guard made;
  c10::impl::device_guard_impl_registry[static_cast<size_t>(c10::DeviceType::PrivateUse1)].store(
      &made);
}

}  // namespace
