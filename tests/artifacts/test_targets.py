"""Every target runs what it was given, in a process of its own, and gives our values."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lazytensor
import lazytensor.numpy as lnp
from lazytensor import Unsupported
from lazytensor.artifacts import targets
from lazytensor.artifacts.targets import apart
from tests.artifacts.programs import CLOSE, PROGRAMS, leaves
from tests.core.processes import run
from tests.sweeps import WHOLE

X = np.arange(12.0, dtype=np.float32).reshape(3, 4) / 7

COMPARED = """
    import sys
    from pathlib import Path
    import numpy as np

    folder, close = Path(sys.argv[1]), float(sys.argv[2])
    for kept in sorted(folder.glob("*.npz")):
        data = np.load(kept)
        given, expected = ([data[n] for n in sorted(data) if n[0] == c] for c in "xy")
        try:
            found = list(ran(kept.with_suffix(SUFFIX), given))
        except Exception as error:
            print(kept.stem, "FAILED", type(error).__name__, str(error)[:500])
            continue
        for x, y in zip(found, expected, strict=True):
            x = np.asarray(x)
            share = close * max(1, abs(y).max())
            same = x.shape == y.shape and np.allclose(x, y, rtol=close, atol=share)
            if not same or x.dtype != y.dtype:
                print(kept.stem, "DIFFERS", x.dtype, y.dtype, x.shape, y.shape)
        print(kept.stem, "done")
    foreign = {"lazytensor"} & set(sys.modules)
    print("alone" if not foreign else foreign)
"""
RUNS = {
    "jax": """
    import jax
    jax.config.update("jax_enable_x64", True)
    SUFFIX = ".jax"
    def ran(path, arrays):
        return jax.export.deserialize(bytearray(path.read_bytes())).call(*arrays)
    """,
    "savedmodel": """
    import tensorflow as tf
    SUFFIX = ".saved"
    def ran(path, arrays):
        call = tf.saved_model.load(str(path)).signatures["serving_default"]
        names = list(call.structured_input_signature[1])
        order = path.with_suffix(".names").read_text().split()
        made = call(**{n: tf.constant(x) for n, x in zip(order[:len(names)], arrays, strict=True)})
        return [made[n].numpy() for n in order[len(names):]]
    """,
    "tflite": """
    import tensorflow as tf
    SUFFIX = ".tflite"
    def ran(path, arrays):
        call = tf.lite.Interpreter(str(path)).get_signature_runner("serving_default")
        order = path.with_suffix(".names").read_text().split()
        made = call(**dict(zip(order, arrays)))
        return [made[n] for n in order[len(arrays):]]
    """,
    "onnx": """
    import onnxruntime
    SUFFIX = ".onnx"
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    def ran(path, arrays):
        session = onnxruntime.InferenceSession(str(path), options)
        return session.run(None, {i.name: x for i, x in zip(session.get_inputs(), arrays)})
    """,
    "iree": """
    from iree import runtime
    SUFFIX = ".vmfb"
    def ran(path, arrays):
        context = runtime.SystemContext(config=runtime.Config("local-task"))
        module = runtime.VmModule.copy_buffer(context.instance, path.read_bytes())
        context.add_vm_module(module)
        made = context.modules.module.main(*arrays)
        for x in made if isinstance(made, (list, tuple)) else [made]:
            yield x.to_host()
    """,
}
"""Per target: what runs a file, without this library."""
LACKING: dict[str, dict[str, str]] = {
    "tflite": {
        "indexing.fixed": "tflite lacks shift_right_arithmetic of int32",
        "systems.fixed": "tflite lacks (cholesky|triangular_solve)",
        "double.fixed": "tflite lacks sine of float64",
        "double.open": "tflite lacks sine of float64",
        "lstm.open": "tflite lacks dynamic_gather",
    },
    "iree": {"double.fixed": "iree lacks sine of float64"},
    "onnx": {},
    "jax": {},
    "savedmodel": {},
}
"""Programs that a target refuses, and the word that says why."""


def _name(text: str) -> str:
    made = re.sub(r"\W", "_", text)
    return made if made[:1].isalpha() else f"x_{made}"


@pytest.mark.parametrize("target", RUNS)
def test_programs_run_elsewhere(target: str, tmp_path: Path) -> None:
    jobs, suffix = {}, targets.TARGETS[target].suffix or ".saved"
    for name, example in PROGRAMS.items():
        may_be_open = bool(example.size and targets.TARGETS[target].is_open)
        kinds = [False, True] if may_be_open and WHOLE else [may_be_open]
        for is_open in kinds:
            artifact = example.exported(is_open)
            stem = f"{name}.{'open' if is_open else 'fixed'}"
            path = tmp_path / f"{stem}{suffix}"
            why = LACKING[target].get(stem)
            if why is not None:
                with pytest.raises(Unsupported, match=why):
                    artifact.to(target, path)
                assert not path.exists()
                continue
            targets.check(artifact, target, targets.TARGETS[target])
            jobs[stem] = artifact, target, path
            ports = [*artifact.inputs, *artifact.outputs]
            (tmp_path / f"{stem}.names").write_text(" ".join(_name(port.name) for port in ports))
            arrays = {f"x{i}": x for i, x in enumerate(example.arrays)}
            np.savez(
                tmp_path / f"{stem}.npz", **arrays,
                **{f"y{i}": y for i, y in enumerate(leaves(artifact(*example.arrays)))},
            )  # fmt: skip
    if target in ("savedmodel", "tflite"):
        apart.convert(list(jobs.values()))  # one process for all
    else:
        for artifact, _, path in jobs.values():
            artifact.to(target, path)
    done = run(RUNS[target] + COMPARED, str(tmp_path), str(CLOSE))
    said = [line for line in done.stdout.splitlines() if line]
    assert [line for line in said if "FAILED" in line or "DIFFERS" in line] == []
    assert [line.split()[0] for line in said if line.endswith("done")] == sorted(jobs)
    assert said[-1] == "alone"


REFUSED: dict[str, tuple[Callable[[Any], Any], str, str]] = {
    "fft": (lambda x: lnp.fft.fft(x).real, "onnx", r"onnx lacks fft \(recorded at test_targets"),
    "bits": (lambda x: lnp.packbits(x > 0, axis=1), "onnx", "have it"),
    "qr": (lambda x: lnp.linalg.qr(x)[1], "tflite", "tflite lacks custom_call.*savedmodel"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_an_operation_that_a_target_lacks_is_named(kind: str, tmp_path: Path) -> None:
    function, target, text = REFUSED[kind]
    artifact = lazytensor.export(function, X)
    path = tmp_path / "program"
    path.write_text("as it was")
    with pytest.raises(Unsupported, match=text):
        artifact.to(target, path)
    assert path.read_text() == "as it was"
    assert list(tmp_path.iterdir()) == [path]


def test_tensorflow_converts_in_a_process_of_its_own(tmp_path: Path) -> None:
    artifact = PROGRAMS["mlp"].exported()
    written = artifact.to("tflite", tmp_path / "mlp.tflite").read_bytes()
    assert written[4:8] == b"TFL3"
    assert [path.name for path in tmp_path.iterdir()] == ["mlp.tflite"]


def test_an_unknown_target_or_option_is_an_error(tmp_path: Path) -> None:
    artifact = lazytensor.export(lambda x: x + 1.0, X)
    with pytest.raises(ValueError, match="one of stablehlo, jax"):
        artifact.to("caffe", tmp_path / "x")
    with pytest.raises(ValueError, match="backend must be one of llvm-cpu, vmvx"):
        artifact.to("iree", tmp_path / "x", backend="cuda")
    opened = lazytensor.export(lambda x: x + 1.0, X, symbolic={"x": {0: "n"}})
    with pytest.raises(Unsupported, match="no sizes that are known at run time only"):
        opened.to("iree", tmp_path / "x")
    assert list(tmp_path.iterdir()) == []
