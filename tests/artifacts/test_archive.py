"""Files that are no artifacts, damaged or hostile, are refused with a clear error."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jaxlib.mlir import ir

import lazytensor
import lazytensor.numpy as lnp
from lazytensor.artifacts.archive import DESCRIPTION, PROGRAM, WEIGHTS, BadArtifact
from lazytensor.backends.xla import client
from tests.core.processes import attempt

Members = dict[str, bytes]

CALLS_BACK = """
func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%x) {backend_config = "1"}
    : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""


@pytest.fixture(scope="module")
def members(tmp_path_factory: pytest.TempPathFactory) -> Members:
    """The members of an artifact."""
    weights = lnp.array(np.ones((2, 2), np.float32))
    made = lazytensor.export(lambda x: x @ weights, np.ones((1, 2), np.float32), name="product")
    path = made.save(tmp_path_factory.mktemp("members") / "product.zip")
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(members: Members, compression: int = zipfile.ZIP_STORED, *more: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, data in [*members.items(), *((name, b"") for name in more)]:
            archive.writestr(name, data)
    return out.getvalue()


def described(members: Members, **changes: Any) -> bytes:
    said = json.loads(members[DESCRIPTION]) | changes
    return packed({**members, DESCRIPTION: json.dumps(said).encode()})


def signed(members: Members, **changes: Any) -> bytes:
    said = json.loads(members[DESCRIPTION])["signature"] | changes
    return described(members, signature=said)


def with_member(members: Members, name: str, data: bytes) -> bytes:
    """Another member, and its digest."""
    digests = json.loads(members[DESCRIPTION])["sha256"] | {name: hashlib.sha256(data).hexdigest()}
    return described({**members, name: data}, sha256=digests)


def without(members: Members, name: str) -> bytes:
    return packed({key: data for key, data in members.items() if key != name})


def flipped(members: Members) -> bytes:
    data = bytearray(packed(members))
    data[data.index(b"lazytensor artifact") + 1] ^= 1
    return bytes(data)


def calling(_: Members) -> bytes:
    with client.context(), ir.Location.unknown():
        from jaxlib.mlir.dialects import stablehlo

        module = ir.Module.parse(CALLS_BACK)
        return stablehlo.serialize_portable_artifact(module, stablehlo.get_minimum_version())


IN = ["x", "float32", [1, 2]]
HOSTILE: dict[str, tuple[Callable[[Members], bytes], str]] = {
    "empty": (lambda m: b"", "no whole zip file"),
    "text": (lambda m: b"hello", "no whole zip file"),
    "truncated": (lambda m: packed(m)[:-100], "no whole zip file"),
    "a flipped bit": (flipped, "CRC"),
    "a bomb": (
        lambda m: packed({**m, WEIGHTS: bytes(10**7)}, zipfile.ZIP_DEFLATED), "is compressed"
    ),
    "a path that leaves the folder": (lambda m: packed(m, 0, "../evil"), "other members"),
    "a pickle": (lambda m: packed(m, 0, "data.pkl"), "other members"),
    "no program": (lambda m: without(m, PROGRAM), "it has no program"),
    "no description": (lambda m: without(m, DESCRIPTION), "says no artifact"),
    "another program": (lambda m: packed({**m, PROGRAM: b"x"}), "damaged or replaced"),
    "no StableHLO": (lambda m: with_member(m, PROGRAM, b"garbage"), "no portable StableHLO"),
    "a call of a function": (lambda m: with_member(m, PROGRAM, calling(m)), "has no portable form"),
    "no weights": (lambda m: with_member(m, WEIGHTS, b""), "not the weights"),
    "damaged weights": (lambda m: with_member(m, WEIGHTS, b"\xff" * 40), "weights.* is damaged"),
    "weights elsewhere": (lambda m: described(m, weights="../../secret"), "must lie beside"),
    "weights nowhere": (lambda m: described(m, weights="none.safetensors"), "cannot be read"),
    "a later format": (lambda m: described(m, format="lazytensor artifact 9"), "was expected"),
    "a name that is none": (lambda m: described(m, name=3), "name is a int"),
    "deep lists": (lambda m: packed({**m, DESCRIPTION: b"[" * 10**5}), "says no artifact"),
    "another shape": (lambda m: signed(m, inputs=[["x", "float32", [9, 2]]]), "own types"),
    "a negative size": (lambda m: signed(m, inputs=[["x", "float32", [-1, 2]]]), "signature"),
    "an object": (lambda m: signed(m, inputs=[["x", "object", [1, 2]]]), "signature"),
    "two inputs": (lambda m: signed(m, inputs=[IN, IN]), "signature"),
    "an unknown size": (lambda m: signed(m, outputs=[["y", "float32", ["n", 2]]]), "signature"),
    "deep results": (
        lambda m: signed(m, results=json.loads('{"list":[' * 200 + "[]" + "]}" * 200)), "signature"
    ),
    "other weights": (lambda m: signed(m, weights=[["w", "float32", [2, 2]]]), "not the weights"),
    "wider weights": (
        lambda m: signed(m, weights=[["constant_0", "float64", [2, 2]]]), "was expected"
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_file_that_is_no_artifact_is_refused(kind: str, members: Members, tmp_path: Path) -> None:
    make, text = HOSTILE[kind]
    path = tmp_path / "artifact.zip"
    path.write_bytes(make(members))
    with pytest.raises(BadArtifact, match=text) as caught:
        lazytensor.load(path)
    assert str(path) in str(caught.value)
    assert sorted(tmp_path.iterdir()) == [path]


def test_the_members_as_they_are_make_an_artifact(members: Members, tmp_path: Path) -> None:
    path = tmp_path / "artifact.zip"
    path.write_bytes(packed(members))
    assert lazytensor.load(path)(np.ones((1, 2), np.float32)).tolist() == [[2.0, 2.0]]


def test_a_file_that_is_not_there_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        lazytensor.load(tmp_path / "none.zip")


def test_a_full_disk_leaves_what_was_there(tmp_path: Path) -> None:
    """The file system is full: a limit on the sizes of files stands for it."""
    program = """
        import resource, signal, sys
        import numpy as np
        import lazytensor
        import lazytensor.numpy as lnp

        path = sys.argv[1]
        weights = lnp.array(np.ones((100, 100)))
        lazytensor.export(lambda x: x + 1, np.ones(2)).save(path)
        lazytensor.load(path)
        sys.dont_write_bytecode = True  # a part of a file would be left
        large = lazytensor.export(lambda x: x @ weights, np.ones((1, 100)))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        try:
            large.save(path)
        except OSError as error:
            print(type(error).__name__, lazytensor.load(path)(np.ones(2)))
    """
    done = attempt(program, str(tmp_path / "artifact.zip"))
    assert done.stdout == "OSError [2. 2.]\n", done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["artifact.zip"]
