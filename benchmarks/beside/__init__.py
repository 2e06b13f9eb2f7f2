"""Every task beside every peer that can be run: the same inputs, one thread, each side in a process of its own.

    python -m benchmarks.beside --install --peers FOLDER   # environments of their own for the peers that pip has
    python -m benchmarks.beside --peers FOLDER [TASK ...]  # run, write results/beside/TASK.json, render RESULTS.md

A peer that is not there is named in the page and skipped.
"""
