"""Arrays on disk: each process writes and reads its own parts, and the mesh may be another one.

`save` and `restore` take arrays by name, as a torch module's `state_dict` gives them. A checkpoint
is a folder with a Zarr (version 3) array for each, which TensorStore reads and writes; its chunks
have checksums.
"""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import numpy as np

from lazytensor import distributed
from lazytensor.core.buffers.interop import shown
from lazytensor.core.device.backend import Within, backend
from lazytensor.core.device.processes import cluster
from lazytensor.core.device.sharded import Sharded
from lazytensor.core.errors import DTypeError, ShapeError
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import leaf
from lazytensor.core.ir.sharding import Mesh, Sharding, Spec, region_of, sharding
from lazytensor.core.runtime import peers, scheduler
from lazytensor.core.trace import splitting

__all__ = ["load", "restore", "save"]

INDEX: Final = "checkpoint.json"
FORMAT: Final = "lazytensor checkpoint 1"
CHUNK_BYTES: Final = 2**26
"""Of an array that is not split, how much is one file, about."""


def save(folder: str | os.PathLike[str], arrays: Mapping[str, Any]) -> None:
    """Write arrays by name: lazy arrays of any frontend, or NumPy arrays.

    folder: replaced when everything is written, so that a failure leaves what was there. Where
    several processes compute, each calls this with the same names, and writes its own parts; all
    see one file system. Raises: OSError; TypeError for what is no array.
    """
    target = Path(folder)
    nodes = {name: _node(name, x) for name, x in arrays.items()}
    scheduler.sync(*nodes.values(), cause="checkpoint")
    new = target.with_name(f"{target.name}.new")
    if distributed.rank() == 0:
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(parents=True)
        for name, node in nodes.items():
            _open(new, name, _new(node))
    peers.meet()
    under_way = [job for name, node in nodes.items() for job in _write(_open(new, name), node)]
    for job in under_way:
        job.result()
    peers.meet()
    if distributed.rank() == 0:
        index = {"format": FORMAT, "arrays": list(nodes)}
        (new / INDEX).write_text(json.dumps(index, indent=1))
        _replace(target, new)
    peers.meet()


def restore(folder: str | os.PathLike[str], arrays: Mapping[str, Any]) -> None:
    """Read arrays in place, by name. Each keeps its sharding, and is read in parts.

    Nothing is changed if a name, a shape or a dtype is not that of the checkpoint. Raises: OSError;
    KeyError for a name that is not there; ShapeError, DTypeError; ValueError for damaged data, and
    for a view, which has a part of another array's memory; TypeError for what is no array.
    """
    source = Path(folder)
    _names(source, arrays)
    stores = {name: _open(source, name) for name in arrays}
    for name, x in arrays.items():
        _check(name, x, stores[name])
    found = {name: _read(stores[name], _sharding_of(x)) for name, x in arrays.items()}
    for name, x in arrays.items():
        if isinstance(x, np.ndarray):
            x[...] = scheduler.observe(found[name])
        else:
            _change(name, x)(found[name])


def load(
    folder: str | os.PathLike[str],
    mesh: Mesh | None = None,
    specs: Mapping[str, Spec] | None = None,
) -> dict[str, Any]:
    """The arrays of a checkpoint by name, as lazy NumPy arrays.

    mesh, specs: over what, and how, to split each array; one that has no spec is whole on every
    device. Raises: OSError; KeyError for a spec of an array that is not there; ValueError for
    damaged data, and as `lazytensor.shard`.
    """
    from lazytensor.frontends.numpy.arrays.array import wrap

    source, given = Path(folder), specs or {}
    names = _names(source, given)
    stores = {name: _open(source, name) for name in names}
    wanted = {
        name: None if mesh is None else sharding(mesh, given.get(name, ()), store.shape, "load")
        for name, store in stores.items()
    }
    return {name: wrap(_read(store, wanted[name])) for name, store in stores.items()}


def _node(name: str, x: Any) -> Node:
    if isinstance(x, np.ndarray):
        return leaf(np.array(x))
    offer = shown(x)
    if offer is None:
        text = f"a lazy array or a NumPy array was expected, got {type(x).__name__}"
        raise TypeError(f"checkpoint: {name}: {text}")
    return offer.node


def _change(name: str, x: Any) -> Callable[[Node], None]:
    """What gives an array another value."""
    offer = shown(x)
    assert offer is not None
    try:
        return offer.change
    except ValueError as error:
        raise ValueError(f"restore: {name}: {error}") from None


def _names(source: Path, wanted: Mapping[str, Any]) -> list[str]:
    """The names in a checkpoint, which has all that are wanted."""
    index = json.loads((source / INDEX).read_text())
    if index.get("format") != FORMAT:
        text = f"{FORMAT!r} was expected, got {index.get('format')!r}"
        raise ValueError(f"checkpoint: {source / INDEX}: {text}")
    names: list[str] = index["arrays"]
    missing = [name for name in wanted if name not in names]
    if missing:
        raise KeyError(f"checkpoint: {source} has no {', '.join(missing)}; it has {names}")
    return names


def _check(name: str, x: Any, store: Any) -> None:
    type = x if isinstance(x, np.ndarray) else _node(name, x).type
    if not isinstance(x, np.ndarray):
        _change(name, x)  # raises
    if tuple(store.shape) != tuple(type.shape):
        raise ShapeError(f"restore: {name} has shape {type.shape}, in the checkpoint {store.shape}")
    if store.dtype.numpy_dtype != type.dtype:
        kind = store.dtype.numpy_dtype
        raise DTypeError(f"restore: {name} has dtype {type.dtype}, in the checkpoint {kind}")


def _sharding_of(x: Any) -> Sharding | None:
    return None if isinstance(x, np.ndarray) else splitting.of(_node("", x))


def _open(folder: Path, name: str, new: Mapping[str, Any] | None = None) -> Any:
    """An array on disk. new: the shape, dtype and chunks of one that is made."""
    try:
        import tensorstore
    except ImportError:
        text = "TensorStore writes and reads checkpoints: pip install 'lazytensor[checkpoint]'"
        raise ImportError(text) from None
    spec: dict[str, Any] = {
        "driver": "zarr3",
        "kvstore": {"driver": "file", "path": str(folder.absolute() / quote(name, safe=""))},
        "store_data_equal_to_fill_value": True,  # a chunk that is missing is an error
    }
    if new is not None:
        spec["metadata"] = dict(new)
    return tensorstore.open(spec, create=new is not None, open=new is None).result()


def _new(node: Node) -> dict[str, Any]:
    """How an array is kept: a chunk for each part, or chunks along the first axis."""
    value, shape = node.value, node.type.shape
    if value.__class__ is Sharded:
        chunk = value.sharding.part(shape)
    else:
        rows = max(1, CHUNK_BYTES * max(1, shape[0]) // max(1, node.type.nbytes)) if shape else 0
        chunk = (min(rows, shape[0]), *shape[1:]) if shape else ()
    return {
        "shape": shape,
        "data_type": node.type.dtype.name,
        "chunk_grid": {
            "name": "regular",
            "configuration": {"chunk_shape": [max(1, n) for n in chunk]},
        },
        "codecs": [{"name": "bytes"}, {"name": "crc32c"}],
    }


def _write(store: Any, node: Node) -> Iterator[Any]:
    """Write this process's parts; the jobs under way."""
    value = node.value
    if value.__class__ is not Sharded:
        if distributed.rank() == 0:
            yield store.write(scheduler.observe(node))
        return
    members = cluster()
    regions = value.sharding.regions(node.type.shape)
    for place, part in backend().parts(value.buffer):
        # Of the devices with copies of this part, the first one's process writes it.
        owner = min(regions[region_of(place, node.type.shape)])
        if members is None or owner // members.devices == members.rank:
            yield store[place].write(backend().host_view(part))


def _read(store: Any, wanted: Sharding | None) -> Node:
    """An array of which this process reads what its devices need."""
    _all_there(store)
    block = None if wanted is None else splitting.own_block(wanted, tuple(store.shape))
    if wanted is None or block is None:
        whole = leaf(np.array(store.read().result()))
        return whole if wanted is None else splitting.split(whole, wanted)
    own = store[tuple(slice(start, stop) for start, stop in block)].read().result()
    start = tuple(start for start, _ in block)
    return splitting.placed_within(np.array(own), wanted, Within(tuple(store.shape), start))


def _all_there(store: Any) -> None:
    """Raises: ValueError if a chunk is missing: its elements would be zeros."""
    chunk = store.chunk_layout.write_chunk.shape or ()  # none where there are no axes
    expected = math.prod(-(-n // k) for n, k in zip(store.shape, chunk, strict=True))
    there = sum(key != b"zarr.json" for key in store.kvstore.list().result())
    if there < expected:
        path = store.kvstore.path
        raise ValueError(f"checkpoint: {path}: {there} of {expected} chunks are there")


def _replace(target: Path, new: Path) -> None:
    """Put a folder in the place of another one."""
    old = target.with_name(f"{target.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if target.exists():
        target.rename(old)
    new.rename(target)
    shutil.rmtree(old, ignore_errors=True)
