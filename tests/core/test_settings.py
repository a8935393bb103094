"""Settings: each from its variable, empty as none, and what is wrong is named."""

from dataclasses import fields
from threading import TIMEOUT_MAX

import pytest

from lazytensor.core.settings import Settings
from tests.core.processes import attempt


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("LAZYTENSOR_TIER", "fast", "LAZYTENSOR_TIER: auto, compile or interpret, got 'fast'"),
        ("LAZYTENSOR_PROGRAMS", "many", "LAZYTENSOR_PROGRAMS: a number was expected, got 'many'"),
        ("LAZYTENSOR_CACHE_BYTES", "2G", "LAZYTENSOR_CACHE_BYTES: a number was expected"),
        ("LAZYTENSOR_EAGER", "2", "LAZYTENSOR_EAGER: 1, true, on, yes, 0, false, off or no, got"),
        ("LAZYTENSOR_MALLOC", "none", "LAZYTENSOR_MALLOC: 1, true, on, yes, 0, false, off or no"),
    ],
)
def test_a_wrong_setting_is_named(variable: str, value: str, message: str) -> None:
    done = attempt("import lazytensor", **{variable: value})
    assert done.returncode == 1
    assert message in done.stderr


NUMBERS = {
    "programs": "LAZYTENSOR_PROGRAMS",
    "disk_bytes": "LAZYTENSOR_CACHE_BYTES",
    "small": "LAZYTENSOR_SMALL",
    "devices": "LAZYTENSOR_DEVICES",
    "slow_compile": "LAZYTENSOR_SLOW_COMPILE",
    "peer_timeout": "LAZYTENSOR_PEER_TIMEOUT",
}
SWITCHES = {
    "disk": "LAZYTENSOR_DISK",
    "wait": "LAZYTENSOR_WAIT",
    "padding": "LAZYTENSOR_PADDING",
    "eager": "LAZYTENSOR_EAGER",
    "modules": "LAZYTENSOR_MODULES",
    "malloc": "LAZYTENSOR_MALLOC",
}
TEXTS = {"tier": "LAZYTENSOR_TIER", "log": "LAZYTENSOR_LOG", "check": "LAZYTENSOR_CHECK"}
READ = {**NUMBERS, **SWITCHES, **TEXTS}


def test_every_setting_is_read_in_a_test() -> None:
    assert {field.name for field in fields(Settings)} == READ.keys()


@pytest.mark.parametrize("name", READ)
def test_an_empty_variable_is_as_none(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(READ[name], raising=False)
    default = getattr(Settings(), name)
    for empty in ("", " "):
        monkeypatch.setenv(READ[name], empty)
        assert getattr(Settings(), name) == default


@pytest.mark.parametrize("name", SWITCHES)
def test_a_flag_has_many_spellings_and_no_others(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for value, spellings in ((True, "1 true ON Yes"), (False, "0 False off NO")):
        for text in spellings.split():
            monkeypatch.setenv(SWITCHES[name], text)
            assert getattr(Settings(), name) is value
    for text in ("2", "enable", "-1"):
        monkeypatch.setenv(SWITCHES[name], text)
        with pytest.raises(ValueError, match=f"{SWITCHES[name]}: 1, true, .* got '{text}'"):
            Settings()


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("text", ["-1", "nan", "-inf", "some"])
def test_a_number_out_of_range_is_refused(
    name: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(NUMBERS[name], text)
    with pytest.raises(ValueError, match=f"{NUMBERS[name]}: a number .*expected, got '{text}'"):
        Settings()


def test_counts_are_whole_and_seconds_need_not_be(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, variable in NUMBERS.items():
        for text in ("1e3", "0.5", "inf"):
            monkeypatch.setenv(variable, text)
            if name in ("slow_compile", "peer_timeout") or text == "1e3":
                assert getattr(Settings(), name) == min(float(text), TIMEOUT_MAX)
            else:
                with pytest.raises(ValueError, match=f"{variable}: a whole number was expected"):
                    Settings()
        monkeypatch.delenv(variable)


def test_an_unknown_platform_is_named_with_those_that_there_are() -> None:
    program = "from lazytensor.core.device.backend import backend; print(backend().fingerprint())"
    done = attempt(program, LAZYTENSOR_PLATFORM="foo")
    assert done.returncode == 1
    assert "ValueError: LAZYTENSOR_PLATFORM: one of" in done.stderr
    assert "cpu" in done.stderr.splitlines()[-1]
    assert attempt(program, LAZYTENSOR_PLATFORM="cpu").returncode == 0
