"""Compiling for devices that this machine lacks, from a description of each.

A plugin of jax has the compiler: `make accelerators` installs them. The program is compiled and not
run, in the plain forms that such devices take (see `emitter.Emitter`).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from time import perf_counter
from typing import Any, Final, NamedTuple

from jaxlib import _jax
from jaxlib.mlir import ir

from lazytensor.backends.xla import hlo
from lazytensor.backends.xla.module import module_of
from lazytensor.backends.xla.session import jax
from lazytensor.core.errors import Unsupported
from lazytensor.core.ir.assumptions import NOTHING_ASSUMED, Assumptions
from lazytensor.core.ir.program import Program

_HOPPER: Final = """
gpu_device_info {{
  cuda_compute_capability {{ major: 9 }}
  core_count: 132  fpus_per_core: 128  clock_rate_ghz: 1.98
  threads_per_warp: 32  threads_per_block_limit: 1024  threads_per_core_limit: 2048
  shared_memory_per_block: 49152  shared_memory_per_block_optin: 232448
  shared_memory_per_core: 233472
  registers_per_block_limit: 65536  registers_per_core_limit: 65536
  block_dim_limit_x: 2147483647  block_dim_limit_y: 65535  block_dim_limit_z: 65535
  l2_cache_size: {cache}  memory_bandwidth: {bandwidth}  device_memory_size: {memory}
}}
platform_name: "CUDA"
dnn_version_info {{ major: 9 minor: 10 }}
device_description_str: "{name}"
"""


class Target(NamedTuple):
    """A device to compile for.

    platform: jax's name of it. plugins: modules of which one has the compiler. topology, options:
    the arguments of jax's `get_topology_desc`. environment: variables that the plugin reads.
    flags: XLA's. avoiding: those of a second attempt, where the first meets a fault of XLA's.
    """

    platform: str
    plugins: tuple[str, ...]
    topology: str
    options: Mapping[str, str] = {}
    environment: Mapping[str, str] = {}
    flags: Mapping[str, Any] = {}
    avoiding: Mapping[str, Any] = {}


def _hopper(name: str, *, memory: int, bandwidth: int, cache: int) -> Target:
    text = _HOPPER.format(name=name, memory=memory, bandwidth=bandwidth, cache=cache)
    plugins = ("jax_plugins.xla_cuda12", "jax_plugins.xla_cuda13")
    options = {"target_config": text, "topology": "1x1x1"}
    flags = {"xla_gpu_autotune_level": "0"}  # there is nothing to time kernels on
    # The tiles that XLA takes unmeasured do not fit every product (jaxlib 0.10.2).
    avoiding = {"xla_gpu_enable_triton_gemm": False}
    return Target("cuda", plugins, "", options, flags=flags, avoiding=avoiding)


TARGETS: Final = {
    "h100": _hopper(
        "NVIDIA H100 80GB HBM3",
        memory=84_942_979_072,
        bandwidth=3_352_320_000_000,
        cache=52_428_800,
    ),
    "h200": _hopper(
        "NVIDIA H200",
        memory=150_754_820_096,
        bandwidth=4_800_000_000_000,
        cache=62_914_560,
    ),
    "v5e": Target(
        "tpu",
        ("libtpu",),
        "v5e:2x2",
        environment={
            "TPU_SKIP_MDS_QUERY": "1",  # ask no server what machine this is
            "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",  # no process has the device
            "TPU_WORKER_HOSTNAMES": "localhost",
            "TPU_WORKER_ID": "0",
            "TPU_ACCELERATOR_TYPE": "v5litepod-4",
        },
    ),
}


class CompiledFor(NamedTuple):
    """A program that was compiled for a target (see `core.device.backend.Compiled`); text: HLO."""

    target: str
    seconds: float
    kernels: tuple[hlo.Kernel, ...]
    memory: int
    calls: Counter[str]
    text: str

    @property
    def nbytes(self) -> int:
        """Bytes that the kernels read and write."""
        return sum(kernel.nbytes for kernel in self.kernels)


def compiled(
    program: Program,
    target: str,
    assumed: Assumptions = NOTHING_ASSUMED,
    donated: Sequence[tuple[int, int]] = (),
) -> CompiledFor:
    """Compile a program for a target. donated: see `core.device.backend.Backend.compile`.

    Raises: ValueError for a target that is not known, ImportError where its plugin is missing,
    Unsupported for a program that the target cannot run.
    """
    kind = _kind(target)
    module = module_of(program, assumed, donated, platform=kind.platform).module
    return compiled_module(module, target)


def compiled_module(module: ir.Module, target: str) -> CompiledFor:
    """Compile a module for a target (see `compiled`)."""
    _device(target)  # imports the plugin, which is not what is timed
    start = perf_counter()
    made = _compiled(module, target)
    seconds = perf_counter() - start
    (found,) = made.hlo_modules()
    text = found.to_string()
    return CompiledFor(
        target,
        seconds,
        tuple(hlo.kernels(text)),
        made.get_compiled_memory_stats().temp_size_in_bytes,
        hlo.routines(text),
        text,
    )


def _compiled(module: ir.Module, target: str, is_second: bool = False) -> Any:
    """XLA's executable. Where the target has flags for it, there is a second attempt."""
    device, kind = _device(target), _kind(target)
    flags = {**kind.flags, **kind.avoiding} if is_second else dict(kind.flags)
    options = jax().extend.backend.get_compile_options(
        num_replicas=1, num_partitions=1, env_options_overrides=flags
    )
    try:
        return device.client.compile(module, _jax.DeviceList((device,)), options)
    except _jax.JaxRuntimeError as error:
        if kind.avoiding and not is_second:
            return _compiled(module, target, is_second=True)
        raise Unsupported(f"{target}: XLA cannot compile this program: {error}") from error


def missing(target: str) -> str:
    """What has to be installed before programs compile for a target; empty if nothing has."""
    plugins = _kind(target).plugins
    if any(_has(name) for name in plugins):
        return ""
    return f"{target}: none of {', '.join(plugins)} is installed; `make accelerators` does it"


def _has(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # its package is missing
        return False


def _kind(target: str) -> Target:
    if target not in TARGETS:
        known = ", ".join(sorted(TARGETS))
        raise ValueError(f"a target was expected, one of {known}; got {target!r}")
    return TARGETS[target]


@cache
def _device(target: str) -> Any:
    """The target's device."""
    kind, lacking = _kind(target), missing(target)
    if lacking:
        raise ImportError(lacking)
    for name, value in kind.environment.items():
        os.environ.setdefault(name, value)
    jax()
    from jax.experimental import topologies

    return topologies.get_topology_desc(kind.topology, kind.platform, **kind.options).devices[0]
