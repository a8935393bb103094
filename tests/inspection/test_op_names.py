"""The names of the ops for frontends are what the modules declare."""

from benchmarks.op_names import MODULE, names, text


def test_the_module_is_current() -> None:
    source = MODULE.read_text(encoding="utf-8")
    assert source == text(), "`python -m benchmarks.op_names` makes it anew"


def test_ops_compositions_and_steps_have_names() -> None:
    assert {"fold", "reduce_gcd"} == set(names("folding"))
    assert {"diagonal", "diagonal_step", "real_step"} <= set(names("movement"))
    assert not names("coefficients")
