"""An exported program gives what the function gives, without the function."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import lazytensor
import lazytensor.numpy as lnp
import lazytensor.torch
from lazytensor import DTypeError, ShapeError, Unsupported, metrics
from lazytensor.artifacts.tracing import from_host
from tests.artifacts.programs import PROGRAMS, assert_close, leaves
from tests.core.processes import run

X = np.arange(12.0, dtype=np.float32).reshape(3, 4) / 7
OPEN = sorted(name for name, example in PROGRAMS.items() if example.size)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_what_its_function_gives(name: str) -> None:
    example = PROGRAMS[name]
    artifact = example.exported()
    assert_close(artifact(*example.arrays), example.values())
    assert [port.shape for port in artifact.inputs] == [x.shape for x in example.arrays]


@pytest.mark.parametrize("name", OPEN)
def test_a_size_that_is_left_open_may_be_any(name: str) -> None:
    example = PROGRAMS[name]
    artifact, function = example.exported(is_open=True), example.function()
    for arrays in example.batches():
        expected = function(*(from_host(function, x) for x in arrays))
        assert_close(artifact(*arrays), list(leaves(expected)))


def test_a_saved_program_runs_without_frameworks(tmp_path: Path) -> None:
    for name, example in PROGRAMS.items():
        for is_open in (False, True) if example.size else (False,):
            path = example.exported(is_open).save(tmp_path / f"{name}.{is_open}.zip")
            arrays = {f"x{i}": x for i, x in enumerate(example.arrays)}
            results = {f"y{i}": y for i, y in enumerate(example.values())}
            np.savez(path.with_suffix(".npz"), **arrays, **results)
    program = """
        import sys
        from pathlib import Path
        import lazytensor
        import numpy as np

        def leaves(value):
            if isinstance(value, dict):
                value = tuple(value.values())
            return sum(map(leaves, value), []) if isinstance(value, (tuple, list)) else [value]

        for path in sorted(Path(sys.argv[1]).glob("*.zip")):
            kept = np.load(path.with_suffix(".npz"))
            names = [sorted(n for n in kept if n[0] == c) for c in "xy"]
            found = leaves(lazytensor.load(path)(*(kept[n] for n in names[0])))
            for x, y in zip(found, (kept[n] for n in names[1]), strict=True):
                np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-5 * max(1, abs(y).max()))
                assert x.dtype == y.dtype
        frameworks = {"jax", "torch", "tensorflow", "keras"} & set(sys.modules)
        print(lazytensor.metrics.snapshot()["compiles"], sorted(frameworks))
    """
    folder = str(tmp_path)
    variables = {"LAZYTENSOR_DISK": "1", "LAZYTENSOR_CACHE_DIR": str(tmp_path / "cache")}
    count = len(PROGRAMS) + len(OPEN)
    assert run(program, folder, **variables).stdout.split(maxsplit=1) == [str(count), "[]\n"]
    # The second process finds what the first has compiled.
    assert run(program, folder, **variables).stdout.split(maxsplit=1) == ["0", "[]\n"]


def test_names_are_those_of_the_function_and_the_model() -> None:
    module = nn.Sequential(nn.Linear(4, 2)).eval()

    def function(x: Any, scale: float, options: dict[str, Any]) -> Any:
        return {"scores": module(x) * scale, "rest": [options["shift"] + 1.0, None, 3]}

    shift = torch.ones(2)
    artifact = lazytensor.export(function, torch.tensor(X), 2.0, options={"shift": shift})
    assert artifact.name == "function"
    assert [port.name for port in artifact.inputs] == ["x", "options.shift"]
    assert [port.name for port in artifact.outputs] == ["scores", "rest.0"]
    assert sorted(artifact.weights) == ["module.0.bias", "module.0.weight"]
    found = artifact(X, options={"shift": np.ones(2, np.float32)})
    assert found["rest"][1:] == [None, 3]
    assert_close(found["scores"], module(torch.tensor(X)).detach() * 2)


def test_a_function_may_use_models_of_two_frameworks() -> None:
    keras_model, module = PROGRAMS["keras"].function(), nn.Linear(2, 3).eval()

    def both(x: Any) -> Any:
        made = keras_model(lazytensor.tf.from_lazy(lnp.asarray(x)))
        return module(lazytensor.torch.from_lazy(made))

    x = PROGRAMS["keras"].arrays[0]
    artifact = lazytensor.export(both, x)
    assert {name.split(".")[0] for name in artifact.weights} == {"keras_model", "module"}
    expected = module(torch.tensor(np.array(keras_model(x)))).detach()
    assert_close(artifact(x), expected)


def _bert() -> Any:
    from transformers import BertConfig, BertModel

    sizes = {"hidden_size": 32, "intermediate_size": 64, "vocab_size": 50}
    return BertModel(BertConfig(num_hidden_layers=2, num_attention_heads=4, **sizes))


def _gpt2() -> Any:
    from transformers import GPT2Config, GPT2LMHeadModel

    ends = {"bos_token_id": 0, "eos_token_id": 0}
    config = GPT2Config(n_embd=32, n_layer=2, n_head=4, vocab_size=50, use_cache=False, **ends)
    return GPT2LMHeadModel(config)


@pytest.mark.parametrize("make", [_bert, _gpt2])
def test_a_language_model_takes_any_batch(make: Callable[[], Any], tmp_path: Path) -> None:
    """Its code asks torch whether it is exported, and asks for no values then."""
    import onnxruntime

    torch.manual_seed(0)
    model = make().eval()
    words = torch.randint(0, 50, (2, 9))
    artifact = lazytensor.export(model, words, symbolic={"input_ids": {0: "batch"}})
    assert not torch.compiler.is_exporting()
    path = artifact.to("onnx", tmp_path / "model.onnx")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options)
    for batch in (words, words[:1], torch.cat([words, words])):
        expected = next(leaves(tuple(model(batch).values())))
        assert_close(next(leaves(artifact(batch))), expected)
        assert_close(session.run(None, {"input_ids": batch.numpy()})[0], expected)


def test_weights_may_lie_beside(tmp_path: Path) -> None:
    example = PROGRAMS["mlp"]
    whole = example.exported().save(tmp_path / "whole.zip")
    path = example.exported().save(tmp_path / "mlp.zip", weights="beside")
    beside = tmp_path / "mlp.safetensors"
    assert path.stat().st_size + beside.stat().st_size == pytest.approx(
        whole.stat().st_size, abs=200
    )
    assert_close(lazytensor.load(path)(*example.arrays), example.values())
    beside.unlink()
    with pytest.raises(ValueError, match=r"weights are in mlp\.safetensors"):
        lazytensor.load(path)


def test_weights_of_every_dtype_are_kept(tmp_path: Path) -> None:
    from lazytensor.core.ir.dtypes import STORED

    kinds = sorted(STORED, key=str)
    held = [lnp.array(np.zeros((2, 1)).astype(dtype)) for dtype in kinds]
    artifact = lazytensor.export(lambda x: [x, *(array.T for array in held)], X)
    found = lazytensor.load(artifact.save(tmp_path / "kinds.zip"))(X)
    assert [x.dtype for x in found[1:]] == kinds
    assert {x.shape for x in found[1:]} == {(1, 2)}


def test_an_array_without_axes_and_one_without_elements_go_in_and_out() -> None:
    artifact = lazytensor.export(lambda x, y: (x + 1, y * 2), np.array(1.5), np.ones((0, 3)))
    first, second = artifact(np.array(2.0), np.ones((0, 3)))
    assert (first.shape, float(first), second.shape) == ((), 3.0, (0, 3))


def _asks(x: Any) -> Any:
    return x if x.sum() > 0 else -x


def _draws(x: Any) -> Any:
    return x + lnp.random.rand(4)


def _masks(x: Any) -> Any:
    return x[x > 0]


def _nothing(x: Any) -> Any:
    return None


def _text(x: Any) -> Any:
    return {1: x}


def _asks_tensorflow(x: Any) -> Any:
    import tensorflow as tf

    return tf.nn.relu(x) if float(tf.reduce_sum(x)) > 0 else x


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "a value": (lambda: _asks, Unsupported, r"asks at test_export\.py:\d+ for a value"),
    "a value of TensorFlow's": (
        lambda: _asks_tensorflow, Unsupported, r"asks at test_export\.py:\d+ for a value"
    ),
    "random numbers": (lambda: _draws, Unsupported, "random numbers differ from call to call"),
    "a shape that is data": (lambda: _masks, Unsupported, "for a value"),
    "no result": (lambda: _nothing, TypeError, "must return arrays, got NoneType"),
    "a key that is no text": (lambda: _text, TypeError, "keys must be text"),
    "training": (lambda: nn.BatchNorm1d(4), Unsupported, r"changes running_mean.*model\.eval"),
    "dropout": (lambda: nn.Dropout(), Unsupported, "random numbers"),
    "the host's operation": (lambda: lnp.linalg.eigvals, Unsupported, "eigvals"),
}  # fmt: skip


@pytest.mark.parametrize("why", REFUSED)
def test_what_has_no_program_is_refused(why: str) -> None:
    make, error, text = REFUSED[why]
    function = make()
    x = torch.tensor(X) if isinstance(function, nn.Module) else X
    if why == "the host's operation":
        x = np.eye(3)
    elif "TensorFlow" in why:
        x = from_host(PROGRAMS["tf_function"].function(), X)
    with pytest.raises(error, match=text):
        lazytensor.export(function, x)
    # What the refused function has left behind computes as if it had been called.
    lazytensor.sync()
    assert float(lnp.ones(3).sum()) == 3.0


def test_an_array_that_a_function_keeps_is_that_of_a_call() -> None:
    kept = []

    def function(x: Any) -> Any:
        kept.append(x * 2.0)
        return kept[0] + 1.0

    artifact = lazytensor.export(function, X)
    np.testing.assert_array_equal(np.asarray(kept[0]), X * 2)
    np.testing.assert_array_equal(artifact(X + 1), (X + 1) * 2 + 1)


def test_a_module_is_not_changed() -> None:
    module = nn.Sequential(nn.Linear(4, 2), nn.BatchNorm1d(2))
    before = {name: x.clone() for name, x in module.state_dict().items()}
    with pytest.raises(Unsupported):
        lazytensor.export(module, torch.tensor(X))
    lazytensor.export(module.eval(), torch.tensor(X))
    for name, x in module.state_dict().items():
        assert x.device.type == "cpu"
        torch.testing.assert_close(x, before[name])


def test_a_module_on_the_device_is_exported_with_its_present_weights() -> None:
    module = nn.Linear(4, 2).to("lazytensor")
    with torch.no_grad():
        module.weight *= 2
    artifact = lazytensor.export(module, torch.tensor(X).to("lazytensor"))
    assert_close(artifact(X), module(torch.tensor(X).to("lazytensor")).detach().cpu())


WRONG: dict[str, tuple[tuple[Any, ...], dict[str, Any], type[Exception], str]] = {
    "a shape": (
        (X[:2],),
        {},
        ShapeError,
        r"x: float32\[3, 4\] was expected, got the shape \(2, 4\)",
    ),
    "a dtype": ((X.astype("f8"),), {}, DTypeError, r"x: float32.* got the dtype float64"),
    "too many": ((X, X), {}, TypeError, "got 2 arguments"),
    "none": ((), {}, TypeError, "x: the program needs a value"),
    "another name": ((X,), {"y": X}, TypeError, "y: no argument"),
    "twice": ((X,), {"x": X}, TypeError, "x: given twice"),
}


@pytest.mark.parametrize("why", WRONG)
def test_other_arguments_are_refused(why: str) -> None:
    args, kwargs, error, text = WRONG[why]
    artifact = lazytensor.export(lambda x: x + 1.0, X)
    with pytest.raises(error, match=text):
        artifact(*args, **kwargs)


def test_open_sizes_must_agree_and_be_known() -> None:
    def add(x: Any, y: Any) -> Any:
        return x + y

    both = {"x": {0: "n"}, "y": {0: "n"}}
    artifact = lazytensor.export(add, X, X, symbolic=both)
    assert str(artifact.outputs[0]) == "output: float32[n, 4]"
    same = lazytensor.export(lambda x: x, X, symbolic={"x": {0: "n"}})
    assert_close(same(X[:2]), X[:2])
    with pytest.raises(ShapeError, match=r"y: float32\[n, 4\] .* \(n is 2\)"):
        artifact(X[:2], X)
    for wrong, text in (
        ({"z": {0: "n"}}, "no input 'z'"),
        ({"x": {5: "n"}}, "x has 2 axes, not the axis 5"),
        ({"x": {0: "n"}, "y": {0: "m"}}, "one name"),
        ({"x": {0: "n", 1: "n"}}, r"the sizes \[3, 4\]"),
    ):
        with pytest.raises(ValueError, match=text):
            lazytensor.export(add, X, X, symbolic=wrong)
    with pytest.raises(Unsupported, match=r"reduce_window .*cannot be left open"):
        lazytensor.export(lambda x: lnp.cumsum(x, axis=0), X, symbolic={"x": {0: "n"}})


def test_an_artifact_is_a_function_of_jax() -> None:
    import jax

    example = PROGRAMS["mlp"]
    for is_open in (False, True):
        artifact = example.exported(is_open)
        doubled = jax.jit(lambda x, call=artifact.call: call(x) * 2)
        found = np.asarray(doubled(*example.arrays)) / 2
        assert_close(found, example.values())
        with pytest.raises(ShapeError):
            artifact.call(example.arrays[0][:, :3])


def test_equal_exports_are_equal_files(tmp_path: Path) -> None:
    first, second = (
        PROGRAMS["mlp"].exported().save(tmp_path / name).read_bytes() for name in ("a", "b")
    )
    assert first == second


def test_no_line_of_the_file_system_is_in_a_program() -> None:
    for name in ("pipeline", "systems"):
        program = PROGRAMS[name].exported().program
        assert str(Path(__file__).parents[2]).encode() not in program
        assert b"site-packages" not in program
        assert b"programs.py" in program


def test_a_program_compiles_once() -> None:
    artifact = lazytensor.export(lambda x: lnp.cos(x) * 0.123, X)
    before = metrics.snapshot()["compiles"]
    artifact(X), artifact(X + 1)
    assert metrics.snapshot()["compiles"] == before + 1


def test_a_forked_process_is_told_that_it_cannot_run_a_program(tmp_path: Path) -> None:
    program = """
        import os, sys
        import numpy as np
        import lazytensor

        x, when = np.ones((6, 5), np.float32), sys.argv[2]
        if when != "child":
            artifact = lazytensor.load(sys.argv[1])
        if when == "called":
            artifact(x)
        if os.fork() == 0:
            try:
                if when == "child":
                    artifact = lazytensor.load(sys.argv[1])
                print("ran", sorted(artifact(x)), flush=True)
            except NotImplementedError as error:
                print(error, flush=True)
            os._exit(0)
        os.wait()
    """
    path = str(PROGRAMS["pipeline"].exported().save(tmp_path / "pipeline.zip"))
    for when in ("called", "loaded"):
        assert "start it by 'spawn'" in run(program, path, when).stdout
    assert run(program, path, "child").stdout == "ran ['best', 'share']\n"


def test_the_description_is_json_that_others_read(tmp_path: Path) -> None:
    import zipfile

    path = PROGRAMS["pipeline"].exported(is_open=True).save(tmp_path / "pipeline.zip")
    said = json.loads(zipfile.ZipFile(path).read("artifact.json"))
    assert said["format"] == "lazytensor artifact 1"
    assert said["signature"]["inputs"] == [["x", "float32", ["batch", 5]]]
    assert said["signature"]["results"] == {"dict": {"best": "array", "share": "array"}}
