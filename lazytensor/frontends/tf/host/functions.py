"""A `tf.function` as TensorFlow itself runs it: until there is an executable, or if none is faster.

TensorFlow runs a body in one call, in parallel and with fused kernels; the interpreter runs it op
by op. Data flow: operands → tensors that share their memory, and variables: those of the last call
if it gave these values, or new ones → TensorFlow's function → its results and the variables'
values, as arrays that share TensorFlow's memory. Invariants:

- The user's variables are not touched: their cells have their values.
- TensorFlow copies shared memory before it writes to a variable: no operand changes, no result.
- One call at a time has a variable. It lives no longer than the array that shows its value.
- Where TensorFlow refuses values, as an assertion fails, the body is interpreted: its flags say so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, count
from math import inf
from time import perf_counter
from typing import Any, Final
from weakref import finalize, ref

import numpy as np
from tensorflow.python import pywrap_tfe
from tensorflow.python.eager import context, core
from tensorflow.python.framework.errors_impl import OpError

from lazytensor.core.interpreter.rows import Reference
from lazytensor.core.ir.types import TensorType
from lazytensor.core.policy import COMPILE_SECONDS, TRIALS
from lazytensor.frontends.tf.dispatch.fallback import execute
from lazytensor.frontends.tf.host.call import array_of
from lazytensor.frontends.tf.tensors.tensor import NUMPY, TF, EagerTensor

_execute_function: Final = pywrap_tfe.TFE_Py_Execute
"""TF's own entry of functions."""
REFUSALS: Final = (OpError, core._NotOkStatusException)
"""What TensorFlow raises, depending on its version, for values that it refuses."""
Form = tuple[Any, ...]


class _Variables:
    """Variables of earlier calls by their places, beside the arrays that show their values."""

    def __init__(self) -> None:
        self._kept: dict[int, tuple[ref[np.ndarray], Any]] = {}

    def take(self, place: int, value: np.ndarray) -> Any:
        """The variable there, for this call alone, if it has the value; else None."""
        found = self._kept.pop(place, None)
        return found[1] if found is not None and found[0]() is value else None

    def keep(self, place: int, value: np.ndarray, variable: Any) -> None:
        """Keep a variable for the next call, as long as the array lives."""
        self._kept[place] = ref(value, partial(self._forget, place)), variable

    def _forget(self, place: int, seen: ref[np.ndarray]) -> None:
        found = self._kept.get(place)
        if found is not None and found[0] is seen:
            self._kept.pop(place, None)


_numbers: Final = count()
"""Numbers for the names of copies. A function has a copy for each signature."""


class NativeCall:
    """TensorFlow's call of a function at one signature.

    forms: per input "data", "handle" with its place among the variables, or "host" and the tensor.
    variables: the types of their values, which follow the data among the operands. results: per
    result of the function, "data" if it is one of the node's. written: places of the variables
    whose new values follow these. has_flag: whether the last result says that all demands are met.
    """

    def __init__(
        self,
        name: str,
        forms: Sequence[Form],
        variables: Sequence[TensorType],
        results: Sequence[Form],
        written: Sequence[int],
        has_flag: bool,
    ) -> None:
        self.name = name
        self.forms, self.variables = forms, variables
        self.results, self.written, self.has_flag = results, written, has_flag
        self.kept = _Variables()
        self.function: str | None = None

    def __call__(self, *operands: np.ndarray) -> tuple[np.ndarray, ...]:
        """The node's results, of operands that may have constants of the body at their end."""
        here = context.context()
        here.ensure_initialized()
        if self.function is None:
            self.function = self._with_values(here) if self.written else self.name

        def tensor(array: np.ndarray) -> Any:
            return EagerTensor(array, here.device_name, None)

        given = sum(form[0] == "data" for form in self.forms)
        data, values = iter(operands[:given]), list(operands[given:])
        handles = [
            self.kept.take(i, value) for i, value in enumerate(values[: len(self.variables)])
        ]
        for i, type in enumerate(self.variables):
            if handles[i] is None:
                handles[i] = _variable(here, type, tensor(values[i]))
        inputs = [_input(form, data, handles, tensor) for form in self.forms]
        attrs = tuple(chain(*here.function_call_options.as_attrs().items()))
        made = _execute_function(
            here._handle, here.device_name, self.function, inputs, attrs,
            len(self.results) + len(self.written),
        )  # fmt: skip
        kept = [x for x, form in zip(made, self.results, strict=False) if form[0] == "data"]
        found = tuple(map(array_of, [*kept, *made[len(self.results) :]]))
        for i, value in zip(self.written, found[len(kept) :], strict=True):
            values[i] = value
        for i, handle in enumerate(handles):
            self.kept.keep(i, values[i], handle)
        return (*found, np.ones((), np.bool_)) if self.has_flag else found

    def _with_values(self, here: Any) -> str:
        """A function that also returns the values of the variables that are written.

        Reading them after the call takes longer: by then the processor's caches have other code.
        """
        made = here.get_function_def(self.name)
        made.signature.name = name = f"{self.name}_with_values_{next(_numbers)}"
        effects = [f"^{node}" for node in made.control_ret.values()]
        handles = {form[1]: at for at, form in enumerate(self.forms) if form[0] == "handle"}
        for i in self.written:
            value, dtype = f"lazytensor_value_{i}", TF[self.variables[i].dtype].as_datatype_enum
            handle = made.signature.input_arg[handles[i]].name
            read = made.node_def.add(name=value, op="ReadVariableOp", input=[handle, *effects])
            read.attr["dtype"].type = dtype
            made.signature.output_arg.add(name=value, type=dtype)
            made.ret[value] = f"{value}:value:0"
        here.add_function_def(made)
        finalize(self, here.remove_function, name).atexit = False
        return name


def is_callable(forms: Sequence[Form], results: Sequence[Form]) -> bool:
    """Whether all that is given and returned are tensors of numbers, or variables."""
    if any(form[0] == "list" for form in results):
        return False
    return all(form[0] in ("data", "handle") or _is_number(form) for form in forms)


def _is_number(form: Form) -> bool:
    return form[0] == "host" and type(form[2]) is EagerTensor and form[2]._datatype_enum() in NUMPY


def _variable(here: Any, type: TensorType, value: Any) -> Any:
    """A handle of a new variable, which lives as long as the handle does."""
    handle = execute(
        here, "VarHandleOp", None, "container", "", "shared_name", context.anonymous_name(),
        "dtype", TF[type.dtype], "shape", type.shape,
    )  # fmt: skip
    execute(here, "AssignVariableOp", None, handle, value)
    return handle


def _input(form: Form, data: Any, handles: Sequence[Any], tensor: Callable[..., Any]) -> Any:
    if form[0] == "data":
        return tensor(next(data))
    return handles[form[1]] if form[0] == "handle" else form[2]


class FasterCall:
    """The faster of two functions with the same results.

    A function that writes to variables is a step, which comes again: TensorFlow runs it from the
    first call on. Of others, `own` runs until it has taken what TensorFlow takes to optimize a
    graph. `estimate`: seconds that `own` takes, by its operations and sizes.
    """

    def __init__(self, own: Reference, native: NativeCall, estimate: float) -> None:
        self.functions = (own, native)
        self.seconds = [inf, inf]
        self.estimate = estimate
        self.spent = COMPILE_SECONDS if native.written else 0.0  # seconds by `own`
        self.left = TRIALS  # runs by `native` until the faster one is taken

    def __call__(self, *operands: np.ndarray) -> Any:
        """The results."""
        if self.left:
            is_native = self.spent >= COMPILE_SECONDS
        else:
            is_native = self.seconds[True] < min(self.seconds[False], self.estimate)
        start = perf_counter()
        try:
            made = self.functions[is_native](*operands)
        except REFUSALS:
            self.left, self.seconds[True] = 0, inf
            return self.functions[False](*operands)
        self._note(is_native, perf_counter() - start)
        return made

    def _note(self, is_native: bool, seconds: float) -> None:
        self.seconds[is_native] = min(self.seconds[is_native], seconds)
        if is_native:
            self.left = max(self.left - 1, 0)
        else:
            self.spent += seconds
            self.estimate = inf
