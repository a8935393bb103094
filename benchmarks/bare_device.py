"""What any torch device written in Python takes: its kernels make tensors, and compute nothing."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

from benchmarks.contestant import Contestant, take_turns
from benchmarks.figures import seconds_of

DEVICE: Final = "bare"
NAME: Final = "forward and backward on a device that computes nothing"


def contestant() -> Contestant:
    """Whoever does so with the model of `training.chain`."""
    call = "from benchmarks.bare_device import work; work()"
    return Contestant(call, TORCH_DEVICE_BACKEND_AUTOLOAD="0")  # a process has one such device


def kernels() -> dict[str, Callable[..., Any]]:
    """What the model and its gradients ask of a device, by the names of torch's operators."""
    import torch

    create = torch._C._acc.create_empty_tensor

    def like(x: Any, *_: Any, **__: Any) -> Any:
        return create(x.shape, x.dtype)

    def scalar(x: Any, **_: Any) -> Any:
        return create((), x.dtype)

    def itself(x: Any, *_: Any, **__: Any) -> Any:
        return x

    def spread(x: Any, shape: Any, *_: Any) -> Any:
        return create(shape, x.dtype)

    def linear(x: Any, weight: Any, bias: Any) -> Any:
        return create((x.shape[0], weight.shape[0]), x.dtype)

    def linear_backward(x: Any, grad: Any, weight: Any, mask: Any) -> Any:
        return like(x), like(weight), create(weight.shape[:1], x.dtype)

    def layer_norm(x: Any, shape: Any, weight: Any, bias: Any, eps: float) -> Any:
        rows = (x.shape[0], 1)
        return like(x), create(rows, x.dtype), create(rows, x.dtype)

    def layer_norm_backward(
        grad: Any, x: Any, shape: Any, mean: Any, spread: Any, weight: Any, bias: Any, mask: Any
    ) -> Any:
        return like(x), like(weight), like(bias)

    def empty(shape: Any, dtype: Any = None, **_: Any) -> Any:
        return create(shape, dtype or torch.get_default_dtype())

    return {
        "as_strided": spread,
        "div.Scalar": like,
        "empty.memory_format": empty,
        "fill_.Scalar": itself,
        "gelu": like,
        "gelu_backward": like,
        "linear": linear,
        "linear_backward": linear_backward,
        "mean": scalar,
        "mul.Scalar": like,
        "mul.Tensor": like,
        "native_layer_norm": layer_norm,
        "native_layer_norm_backward": layer_norm_backward,
        "normal_": itself,
        "ones_like": like,
        "pow.Tensor_Scalar": like,
        "uniform_": itself,
        "zero_": itself,
    }


def register() -> Any:
    """Give torch the device, whose kernels end with the library that this gives."""
    import torch
    from torch.utils import backend_registration

    class Hooks(torch._C._acc.PrivateUse1Hooks):
        def is_available(self) -> bool:
            return True

        def has_primary_context(self, device_index: int) -> bool:
            return True

        def is_built(self) -> bool:
            return True

    class Guard(torch._C._acc.DeviceGuard):
        def type_(self) -> Any:
            return torch._C._autograd.DeviceType.PrivateUse1

    backend_registration._setup_privateuseone_for_python_backend(
        DEVICE, backend_module=ModuleType(DEVICE), hook=Hooks(), device_guard=Guard()
    )
    library = torch.library.Library("aten", "IMPL")
    for name, kernel in kernels().items():
        library.impl(name, kernel, "PrivateUse1")
    return library


def work() -> None:
    """Be that contestant: a turn is a pass forward and one backward, with no optimizer's step."""
    import torch

    from benchmarks import training  # which imports this module

    kept = register()
    with torch.device(DEVICE):
        task = training.chain()
    net, (x,) = task.model, task.data.values()

    def passes() -> None:
        task.loss(net(x)).backward()
        for parameter in net.parameters():
            parameter.grad = None

    take_turns(lambda: seconds_of(passes))
    del kept
