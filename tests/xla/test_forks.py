"""The child of a fork reads the values of a device that it lacks, if they were moved before."""

from tests.core import processes

SCRIPT = """
    import os
    import numpy as np
    from lazytensor.backends.xla import client, forks, session

    session.jax()  # imported before any fork, as where jax has the device
    forks.FETCHED_BYTES = 100
    forks.watch_forks(client._client().live_arrays, (), client._fetched)
    small = client.to_device(np.arange(3.0), owned=True)
    large = client.to_device(np.arange(100.0), owned=True)
    child = os.fork()
    if child == 0:
        print(client.host_view(small).tolist(), flush=True)
        try:
            client.host_view(large)
        except NotImplementedError as error:
            print(error, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
    print(forks.fetched._values, client.host_view(large)[-1])
"""


def test_small_values_are_there_and_large_ones_say_what_to_do() -> None:
    done = processes.run(SCRIPT)
    assert done.stderr == ""
    said = done.stdout.splitlines()
    assert said[0] == "[0.0, 1.0, 2.0]"
    assert "cannot read the 800 bytes of an array on the device" in said[1]
    assert "observe it before the fork" in said[1]
    assert said[2] == "{} 99.0"
