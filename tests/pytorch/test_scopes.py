"""`LAZYTENSOR_MODULES=1` names what a module records by its path."""

from tests.core.processes import run

PROGRAM = """
    import torch
    import lazytensor
    import lazytensor.torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.ModuleList([torch.nn.Linear(3, 3) for _ in range(2)])

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            if x.shape[0] == 1:
                raise ValueError("one row")
            return x.tanh()

    net = Net().to("lazytensor")
    x, one = torch.ones(2, 3).to("lazytensor"), torch.ones(1, 3).to("lazytensor")
    lazytensor.sync()
    try:
        net(one)
    except ValueError:
        pass
    lazytensor.sync()
    y = net(x) * 2
    lazytensor.sync()
    program = lazytensor.programs()[0]
    names = {}
    for (op, *_), module in zip(program.instructions, program.modules):
        if op.name not in ("parameter", "slot"):
            names.setdefault(module, []).append(op.name)
    print(*names, sep=",")
    print(names["Net"], names[""])
"""


def test_modules_are_named_by_their_paths_whatever_ends_a_call() -> None:
    first, second = run(PROGRAM, LAZYTENSOR_MODULES="1").stdout.splitlines()
    assert first == "Net.layers.0,Net.layers.1,Net,"
    assert second == "['tanh'] ['multiply']"
