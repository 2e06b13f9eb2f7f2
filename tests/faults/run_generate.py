"""A run of `generate` in a process of its own, which says when it begins, and when it is done.

python run_generate.py STORE N [SCHEDULER]
"""

import os
import sys
import time

import numpy as np

N_OBJECTS, SEED = 400, 3


def table():
    return np.random.default_rng(0).normal(size=(N_OBJECTS, 6))


def generate(store, n, **how):
    import consilience as cs

    return cs.generate(table(), n, 5, random_state=SEED, store=store, **how)


def main(store, n, scheduler=None):
    from consilience.cli.errors import say
    from consilience.cli.sigterm import wait_for_sigterm
    from consilience.generation.runner import Runner

    wait_for_sigterm(say)
    Runner.batch_seconds = 0.03  # many parts: more moments at which one is being written
    if jump := float(os.environ.get("CLOCK", "0")):
        ticks, real = iter(range(10**9)), time.time
        time.time = lambda: real() + jump * (-1) ** next(ticks)  # forth and back at every look
    print("ready", flush=True)
    try:
        if scheduler is None:
            generate(store, int(n))
        else:
            from consilience._run.dask_cluster import connect

            with connect(scheduler) as client:
                generate(store, int(n), client=client)
    except KeyboardInterrupt:
        sys.exit(130)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        sys.exit(1)
    print("done", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
