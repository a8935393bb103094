"""The lines that random NumPy programs are made of, by what they do (see `grammar.py`)."""

from __future__ import annotations


def _words(text: str) -> list[str]:
    return text.split()


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line]


UNARY = _words("""
negative absolute sign square logical_not invert positive isfinite conjugate isnan signbit
floor ceil trunc rint
""")
BINARY = _words("""
add subtract multiply maximum minimum floor_divide remainder less equal greater_equal not_equal
logical_and logical_xor logical_or bitwise_or bitwise_and bitwise_xor fmod fmax
""")
REDUCTIONS = _words("sum max min any all argmax argmin prod cumsum ptp")
INTO_OUT = _words("any all argmax")
"""Those that write to an array of another dtype, or of none of their shapes, by plain rules.

As functions: methods of small arrays, which are NumPy's, take no lazy `out=` where they are C
(docs/differences.md).
"""

_VIEWS = """
{new} = {x}[{key}]
{new} = {x}[{key}]
{new} = {x}[{key}]
{new} = {x}[{key}]
{new} = {x}.T
{new} = {x}.reshape({shape})
{new} = {x}.reshape({shape}, order='{layout}')
{new} = np.reshape({x}, {shape})
{new} = {x}.ravel()
{new} = {x}.ravel('{layout}')
{new} = {x}.transpose({order})
{new} = {x}.swapaxes({axis}, {axis2})
{new} = np.moveaxis({x}, {axis}, {axis2})
{new} = np.expand_dims({x}, {axis})
{new} = {x}.squeeze()
{new} = np.squeeze({x}, {axis})
{new} = np.flip({x}, {axes})
{new} = np.rot90({x}, {k})
{new} = {x}.diagonal({k})
{new} = np.broadcast_to(np.asarray({x}), {wider})
{new} = np.atleast_1d({x})
{new} = np.atleast_3d({x})
{new} = {x}.view()
{new} = {x}.view({dtype})
{new} = {x}.real
{new} = {x}.imag
{new} = np.array_split({x}, 2)[{n}]
{new} = np.rollaxis({x}, {axis})
{new} = np.asarray({x})
{new} = {x}.mT
{new} = np.diag({x})
{new} = {x}[None].T[..., {n}]
"""
_COPIES = """
{new} = {x}.copy()
{new} = {x}.copy('{layout}')
{new} = np.array({x})
{new} = np.array({x}, copy=None)
{new} = np.array({x}, order='{layout}')
{new} = np.ascontiguousarray({x})
{new} = np.asfortranarray({x})
{new} = {x}.flatten()
{new} = {x}.flatten('{layout}')
{new} = {x}.astype({dtype})
{new} = {x}.astype({dtype}, copy=False)
{new} = {x}.astype({dtype}, order='{layout}')
{new} = np.zeros_like({x})
{new} = np.ones_like({x}, dtype={dtype})
{new} = np.full_like({x}, 3, order='{layout}')
"""
_WRITES = """
{x}[{key}] = {v}
{x}[{key}] = {v}
{x}[{key}] = {v}
{x}[...] = {v}
{x}[{key}] {iop} {v}
{x}[{key}] {iop} {v}
{x} {iop} {v}
{x} {iop} {v}
{x}.T[{n}:] {iop} {v}
{x}.fill({filling})
{x}[{spot}] = {v}
{x}[{spot}] {iop} {v}
{x}[{mask}] = {v}
{x}[{mask}] = {x}[{mask}][::-1]
{x}[{mask}] {iop} {number}
{x}.flat[{n}] = {number}
{x}.flat[{n}:] = np.copy({v})
{x}.flat = np.copy({v})
np.copyto({x}, {v})
np.copyto({x}, {v}, where={mask})
np.put({x}, {integers}, {v}, mode='wrap')
np.putmask({x}, {mask}, {v})
np.place({x}, {mask}, np.copy({v}))
{x}.real = {v}
{x}.sort({axis})
np.fill_diagonal({x}, {number})
if {x}.flags.writeable: np.add.at({x}, {spot}, {number})
np.{g}({x}, {y2}, out={y})
np.{g}({x}, {v}, out={x}[{key}])
np.{g}({x}.copy(), {y2}.copy(), out={y}, where={mask})
np.{f}({x}, out={y})
np.{s}({x}, {axes}, out={y})
np.clip({x}, -3, {v}, out={x})
{x}[{key}], {x}[{key2}] = {x}[{key2}], {x}[{key}]
"""
_FLAGS = """
{x}.flags.writeable = False
{x}.setflags(write=False)
{x}.shape = {shape}
see(np.shares_memory({x}, {y}), np.may_share_memory({x}, {any}))
"""
_VALUES = """
see({x})
see({x}.tolist())
see(repr({x}))
see(str({x}))
see(len({x}))
see(bool(({x} > {k}).any()))
see([row.sum() for row in {x}])
see({x}.item())
see({x}.item({n}))
see(int({x}[{key}]))
see(float({x}.sum()))
see(complex({x}.max()))
see(list({x}.flat))
see({x}.nonzero())
see(np.broadcast_arrays({x}, {y}))
see(np.array_equal({x}, {y}))
see({number} in {x})
see(f'{x}')
see(range(10)[{x}])
see(hash({x}[{key}]))
see(np.unique({x}, return_counts=True))
see(np.mean({x}, {axes}), np.var({x}))
see({x} / {v})
see(np.sqrt(abs({x})))
see(np.median({x}, {axis}))
see(np.exp(np.clip({x}, -3, 3)))
see(bool({x}))
barrier()
barrier()
barrier()
tier({n})
grow({n})
"""
_ARITHMETIC = """
{new} = np.{f}({x})
{new} = np.{f}({x})
{new} = np.{g}({x}, {v})
{new} = np.{g}({v}, {x})
{new} = {x} {op} {v}
{new} = {v} {op} {x}
{new} = {x} {op} {y}
{new} = -{x}
{new} = abs({x})
{new} = ~{x}
{new} = {x} << {n}
{new} = {x} >> {n}
{new} = {x} ** 3
{new} = np.{g}({x}, {y}, dtype={dtype})
{new} = np.{g}({x}, {v}, casting='safe')
{new} = np.{g}({x}, {v}, order='{layout}')
{new} = np.where({mask}, {v}, {v2})
{new} = np.clip({x}, -2, {v})
{new} = {x}.clip(0)
{new} = divmod({x}, {v})[{n}]
{new} = np.modf({x})[{n}]
"""
_REDUCTIONS = """
{new} = {x}.{r}({axes})
{new} = np.{r}({x}, axis={axes})
{new} = np.{r}({x}, axis={axes}, keepdims=True)
{new} = np.sum({x}, axis={axes}, dtype={dtype})
{new} = np.sum({x}, axis={axes}, where={mask})
{new} = np.max({x}, axis={axes}, initial={n}, where={mask})
{new} = np.{g}.reduce({x}, axis={axis}).copy()
{new} = np.{g}.accumulate({x}, axis={axis}).copy()
{new} = np.{g}.outer({x}, {y}).copy()
{new} = np.{g}.reduceat({x}, [0, {n}]).copy()
{new} = np.count_nonzero({x}, axis={axes})
{new} = np.cumsum({x}, {axis}, dtype={dtype})
{new} = {x}.trace()
{new} = np.dot({x}, {y}).copy()
{new} = {x} @ {y}
{new} = {x} @ {x}.T
{new} = np.tensordot({x}, {y}, {n})
{new} = np.einsum('i...,i...->...', {x}, {x}).copy()
"""
_SELECTIONS = """
{new} = {x}[{index}].copy()
{new} = {x}[{index}].copy()
{new} = {x}[{mask}]
{new} = {x}[{mask}]
{new} = np.take({x}, {integers}, axis=0)
{new} = np.take({x}, {integers}, mode='wrap')
{new} = np.compress([True, False, True], {x}, axis={axis})
{new} = np.extract({mask}, {x})
{new} = np.choose({x} > 0, [{v}, {v2}])
{new} = np.select([{mask}], [np.copy({v})], {number})
{new} = np.take_along_axis({x}, np.argsort({x}, {axis}, kind='stable'), {axis})
{new} = np.nonzero({x})[0].copy()
{new} = np.flatnonzero({x})
{new} = np.argwhere({x})
{new} = np.searchsorted(np.sort({x}, None), {v})
{new} = {x}.flat[{n}:]
{new} = {x}.repeat({n}, {axis})
"""
_JOINS = """
{new} = np.concatenate([{x}, {y}], axis={axis}).copy()
{new} = np.concatenate([{x}, {y}], axis=None).copy()
{new} = np.stack([{x}, {y}], {axis}).copy()
{new} = np.hstack([{x}, {y}]).copy()
{new} = np.vstack([{x}, {y}]).copy()
{new} = np.dstack([{x}, {x}]).copy()
{new} = np.column_stack([{x}, {y}]).copy()
{new} = np.tile({x}, {n}).copy()
{new} = np.roll({x}, {k}, {axis})
{new} = np.roll({x}, {k})
{new} = np.pad({x}, {n}).copy()
{new} = np.pad({x}, 1, mode='edge').copy()
{new} = np.outer({x}, {y}).copy()
{new} = np.diff({x}).copy()
{new} = np.sort({x}, {axis})
{new} = np.argsort({x}, {axis}, kind='stable')
{new} = np.triu({x}, {k}).copy()
{new} = np.tril({x}).copy()
{new} = np.append({x}, {v}).copy()
{new} = np.insert({x}, {n}, {number}, {axis}).copy()
{new} = np.delete({x}, {n}, {axis}).copy()
{new} = np.array([{x}, {x}]).copy()
{new} = np.kron({x}, {number}).copy()
{new} = np.unique({x})
{new} = np.ediff1d({x})
{new} = np.isin({x}, {y})
{new} = np.meshgrid(np.copy({x}), np.copy({y}))[{n}]
{new} = np.block([{x}, {x}]).copy()
"""


TEMPLATES: dict[str, list[str]] = {
    "new": ["{new} = {create}"],
    "views": _lines(_VIEWS),
    "more views": _lines(_VIEWS),
    "copies": _lines(_COPIES),
    "writes": _lines(_WRITES),
    "more writes": _lines(_WRITES),
    "flags": _lines(_FLAGS),
    "values": _lines(_VALUES),
    "arithmetic": _lines(_ARITHMETIC),
    "more arithmetic": _lines(_ARITHMETIC),
    "reductions": _lines(_REDUCTIONS),
    "selections": _lines(_SELECTIONS),
    "joins": _lines(_JOINS),
}
"""Groups are chosen equally often, and so are the lines of a group."""
