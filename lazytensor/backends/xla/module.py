"""From a program to a StableHLO module: its signature, its slots, its donations, its body."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import func

from lazytensor.backends.xla import client, slot_buffers, workarounds
from lazytensor.backends.xla.attributes import ir_type
from lazytensor.backends.xla.builder import Value
from lazytensor.backends.xla.callbacks import Callback
from lazytensor.backends.xla.emitter import Emitter, emit
from lazytensor.backends.xla.lowerings.movement import static_slice
from lazytensor.backends.xla.lowerings.sharding import attribute, declare
from lazytensor.backends.xla.lowerings.storing import store_shared
from lazytensor.backends.xla.tables import HOST, LOWERINGS
from lazytensor.core.ir.assumptions import Assumptions
from lazytensor.core.ir.program import Program
from lazytensor.core.ir.recording import Place
from lazytensor.core.ir.sharding import Sharding, replicated
from lazytensor.core.ir.types import TensorType, tensor_type


class Emitted(NamedTuple):
    """A program's module, and the ops in it that the host runs."""

    module: ir.Module
    callbacks: list[Callback]


def module_of(
    program: Program,
    assumed: Assumptions,
    donated: Sequence[tuple[int, int]] = (),
    places: Sequence[Place | None] = (),
    is_portable: bool = False,
    is_plain: bool = False,
    splits: Mapping[int, Sharding] | None = None,
    platform: str | None = None,
) -> Emitted:
    """The module of a program (see `core.device.backend.Backend.compile`).

    is_portable: without calls back, so that it runs elsewhere. is_plain: in forms that every
    compiler knows, a partitioner included, and not in those that are fastest on one CPU. splits:
    by position, the shardings of results that the partitioner is not to choose. platform: what it
    is compiled for, if that is not where this process runs programs.
    """
    platform = client.platform() if platform is None else platform
    is_plain = is_plain or bool(program.meshes) or platform != "cpu"
    hosts = None if is_plain or is_portable else HOST
    with client.context(), ir.Location.unknown():
        module = ir.Module.create()
        inputs = [program.instructions[i][3] for i in program.parameters]
        packed = _packed_types(program, assumed.baked)
        data = None if program.meshes else platform
        given = [*inputs, *slot_buffers.parameters(packed, data)]
        with ir.InsertionPoint(module.body):
            declare(program.meshes)
            signature = ir.FunctionType.get([ir_type(t) for t in given], [])
            main = func.FuncOp("main", signature, visibility="public")
        _mark_inputs(main, signature.inputs, donated, _shardings(program, signature.inputs))
        block = main.add_entry_block()
        emitter = Emitter(module, LOWERINGS, hosts, is_plain, platform)
        emitter.mesh = next(iter(program.meshes), None)
        with ir.InsertionPoint(block):
            arguments = [Value(emitter, t, a) for t, a in zip(given, block.arguments, strict=True)]
            for argument in arguments:
                argument.stored = True
            buffers = slot_buffers.arrays(emitter, packed, arguments[len(inputs) :], data)
            values = _slot_values(emitter, program, assumed, buffers)
            results = emit(emitter, program, arguments[: len(inputs)], values, places)
            results += _verdict(emitter, program, results)
            func.ReturnOp([x.ir for x in results])
            if not is_plain:
                workarounds.read_shared(block)
                store_shared(module, block)
        ends = ir.FunctionType.get(signature.inputs, [x.ir.type for x in results])
        main.attributes["function_type"] = ir.TypeAttr.get(ends)
        if splits:
            main.attributes["res_attrs"] = ir.ArrayAttr.get(
                [ir.DictAttr.get(_split(splits.get(at))) for at in range(len(results))]
            )
    return Emitted(module, emitter.callbacks)


def _verdict(emitter: Emitter, program: Program, results: list[Value]) -> list[Value]:
    """Whether all guards hold, where the program says so."""
    if not program.has_verdict:
        return []
    flags = results[len(program.outputs) :]
    return [reduce(lambda x, y: emitter.op("and", x.type, x, y), flags)]


def _packed_types(program: Program, baked: Mapping[int, Any]) -> dict[np.dtype, TensorType]:
    """Per dtype with a slot that is not baked: the type of the buffer that holds all its slots."""
    lengths: dict[np.dtype, int] = {}
    dynamic: dict[np.dtype, None] = {}
    for index, (dtype, at) in program.slot_places.items():
        lengths[dtype] = at + program.instructions[index][3].size
        if index not in baked:
            dynamic[dtype] = None
    return {dtype: tensor_type(dtype, (n,)) for dtype, n in lengths.items() if dtype in dynamic}


def _slot_values(
    emitter: Emitter,
    program: Program,
    assumed: Assumptions,
    buffers: Mapping[np.dtype, Value],
) -> list[Value]:
    values: dict[int, Value] = {}
    for index, (dtype, at) in program.slot_places.items():
        type = program.instructions[index][3]
        if index in assumed.baked:
            known = np.reshape(assumed.baked[index], type.shape)
            values[index] = emitter.scalar(known, dtype)
            continue
        if index in assumed.leaders:
            values[index] = values[assumed.leaders[index]]
            continue
        cut = static_slice(emitter, buffers[dtype], (at,), (type.size,), (1,))
        values[index] = emitter.reshape(cut, type.shape)
    return list(values.values())


def _shardings(program: Program, inputs: Sequence[ir.Type]) -> list[Sharding | None]:
    """The inputs' shardings, if there is a mesh. The partitioner would split what has none."""
    if not program.meshes:
        return [None] * len(inputs)
    given = [*program.shardings, *[None] * (len(inputs) - len(program.shardings))]
    whole = [replicated(program.meshes[0], ir.ShapedType(t).rank) for t in inputs]
    return [known or default for known, default in zip(given, whole, strict=True)]


def _mark_inputs(
    main: Any,
    inputs: Sequence[ir.Type],
    donated: Sequence[tuple[int, int]],
    shardings: Sequence[Sharding | None],
) -> None:
    """Say of the inputs which result overwrites each, and how it is split."""
    if not donated and not any(shardings):
        return
    aliases, index = dict(donated), ir.IntegerType.get_signless(32)
    marks = [_split(sharding) for sharding in shardings]
    for i, output in aliases.items():
        marks[i]["tf.aliasing_output"] = ir.IntegerAttr.get(index, output)
    main.attributes["arg_attrs"] = ir.ArrayAttr.get(list(map(ir.DictAttr.get, marks)))


def _split(sharding: Sharding | None) -> dict[str, ir.Attribute]:
    return {} if sharding is None else {"sdy.sharding": attribute(sharding)}
