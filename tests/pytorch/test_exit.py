"""What runs when the interpreter exits still has the device, whenever it was registered."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import atexit
held = {}
def save():
    x = held["x"]
    y = torch.nn.functional.linear(x[None] * 2, x[None])
    print(y.tolist(), torch.ops.aten.hardsigmoid(x).tolist(), held["net"].cpu().bias.grad.tolist())
{BEFORE}
import torch, lazytensor.torch
{AFTER}
held["x"] = torch.full((3,), 3.0, device="lazytensor")
held["net"] = torch.nn.Linear(3, 1).to("lazytensor")
with torch.autocast("lazytensor", dtype=torch.bfloat16):
    held["net"](held["x"]).sum().backward()
"""


@pytest.mark.parametrize("place", ["BEFORE", "AFTER"])
def test_handlers_compute_on_the_device(place: str) -> None:
    program = PROGRAM.replace(f"{{{place}}}", "atexit.register(save)")
    for other in ("BEFORE", "AFTER"):
        program = program.replace(f"{{{other}}}", "")
    made = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (made.returncode, made.stderr) == (0, "")
    assert made.stdout == "[[54.0]] [1.0, 1.0, 1.0] [1.0]\n"
