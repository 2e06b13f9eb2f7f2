"""A writer to be killed: `python store_writer.py FOLDER` appends for ever and tells what is on disk."""

import sys

import numpy as np

from consilience.ensemble.store import Store

N_OBJECTS = 300
RUN = {"n_objects": N_OBJECTS, "fingerprint": "kill test", "plan": {"n_clusters": 15}}


def labels_of(numbers: np.ndarray) -> np.ndarray:
    """Labels as a function of the number alone, so that any other value is seen as wrong."""
    mixed = (np.asarray(numbers)[:, None] * 2654435761 + np.arange(N_OBJECTS) * 40503) % 2**31
    return (mixed // 977 % 16 - 1).astype(np.int32).T


def main(folder: str) -> None:
    with Store.resume(folder, **RUN) as store:
        print("ready", flush=True)
        while True:
            start = store.n_clusterings
            numbers = np.arange(start, start + 1 + start % 7)
            store.append(labels_of(numbers), numbers=numbers)
            print(*numbers.tolist(), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
