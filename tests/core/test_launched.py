"""How a process finds its place among others: from the variables of launchers."""

import pytest

from lazytensor import launched
from lazytensor.launched import Place

OWN = {
    "LAZYTENSOR_COORDINATOR": "h:5",
    "LAZYTENSOR_PROCESSES": "4",
    "LAZYTENSOR_RANK": "3",
}
TORCHRUN = {"MASTER_ADDR": "h", "MASTER_PORT": "100", "WORLD_SIZE": "2", "RANK": "1"}
SLURM = {
    "SLURM_STEP_NODELIST": "n[07-09,12],m1",
    "SLURM_JOB_ID": "4100",
    "SLURM_NTASKS": "8",
    "SLURM_PROCID": "0",
}
VARIABLES = {*OWN, *TORCHRUN, *SLURM, "TORCHELASTIC_RUN_ID", launched.LOCAL_DEVICES}


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, None),
        (OWN, Place("h:5", 4, 3)),
        (TORCHRUN, Place("h:101", 2, 1)),
        (SLURM, Place("n07:61444", 8, 0)),
        ({**TORCHRUN, **OWN}, Place("h:5", 4, 3)),
    ],
)
def test_a_launcher_says_the_place(
    given: dict[str, str], expected: Place | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert launched.place() == expected


@pytest.mark.parametrize("nodes", ["n7", "n7,n9", "n[7]", "n[7-9]", "n[7,9-12],m1"])
def test_the_first_host_of_a_list(nodes: str) -> None:
    assert launched.first_host(nodes) == "n7"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("WORLD_SIZE", "", "WORLD_SIZE is not set: the launcher sets it for each process"),
        ("RANK", "two", "RANK: a number of 0 or more was expected, got 'two'"),
    ],
)
def test_what_is_missing_is_named(
    name: str, value: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key, text in {**TORCHRUN, name: value}.items():
        monkeypatch.setenv(key, text)
    with pytest.raises(ValueError, match=message):
        launched.place()


def test_devices_of_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    assert launched.devices() == 1
    monkeypatch.setenv(launched.LOCAL_DEVICES, "3")
    assert launched.devices() == 3
