"""What is read of a compiled module's text."""

import pytest

from lazytensor.backends.xla import hlo

TEXT = """HloModule step, is_scheduled=true

%region (a: f32[], b: f32[]) -> f32[] {
  ROOT %add.1 = f32[] add(%a, %b)
}

%body (p: (s32[], f32[8])) -> (s32[], f32[8]) {
  %p = (s32[], f32[8]{0}) parameter(0)
  %x = f32[8]{0} get-tuple-element(%p), index=1
  ROOT %fusion.2 = f32[8]{0} fusion(%x), kind=kLoop, calls=%fused
}

ENTRY %main (x: f32[4,8], y: bf16[8]) -> f32[4] {
  %x = f32[4,8]{1,0} parameter(0)
  %y = bf16[8]{0} parameter(1)
  %fusion.1 = (f32[8]{0}, pred[4]{0}) fusion(%x, %y), kind=kInput, calls=%fused_reduce
  %part = f32[8]{0} get-tuple-element(%fusion.1), index=0
  %loop = (s32[], f32[8]{0}) while(%part), condition=%cond, body=%body
  ROOT %call.1 = f32[4]{0} custom-call(%part), custom_call_target="__cublas$lt$matmul"
}

%cond (p: (s32[], f32[8])) -> pred[] {
  ROOT %less = pred[] compare(%p, %p), direction=LT
}
"""


def test_kernels_are_those_of_the_entry_and_of_what_it_runs() -> None:
    found = [(kernel.name, kernel.nbytes) for kernel in hlo.kernels(TEXT)]
    fused, looped, called = 4 * 8 * 4 + 8 * 2 + 8 * 4 + 4, 2 * 8 * 4, 8 * 4 + 4 * 4
    assert found == [("fusion.1", fused), ("less", 1), ("fusion.2", looped), ("call.1", called)]


def test_routines_are_counted() -> None:
    assert hlo.routines(TEXT) == {"__cublas$lt$matmul": 1}


@pytest.mark.parametrize(
    ("types", "expected"),
    [("f32[2,3]{1,0}", 24), ("pred[]", 1), ("c128[4]", 64), ("(bf16[8], f8e4m3fn[3])", 19)],
)
def test_bytes_of_types(types: str, expected: int) -> None:
    assert hlo.nbytes(types) == expected
