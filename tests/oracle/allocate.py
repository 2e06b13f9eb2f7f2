"""Items put where the expected loss is least, by its definition: every place of an item tried from scratch."""

import numpy as np


def total(start, column, value, weight, scale, labels, square):
    """Σ_y scale_y Σ_c f(T_yc) over the items that have a cluster."""
    values = value if len(value) else np.repeat(weight, np.diff(start))
    owner = np.repeat(labels, np.diff(start))
    table = np.zeros((len(scale), max(labels.max(initial=-1) + 1, 1)))
    np.add.at(table, (column[owner >= 0], owner[owner >= 0]), values[owner >= 0])
    cells = table**2 if square else table * np.log(np.where(table > 0, table, 1))
    return scale @ cells.sum(axis=1)


def allocate(start, column, value, weight, scale, labels, order, *, square, limit, passes):
    moves = 0
    for _ in range(passes):
        before = moves
        for i in order:
            old, used = labels[i], np.bincount(labels[labels >= 0], minlength=1)
            places = [c for c in range(len(used)) if used[c]]
            opened = min(set(range(len(used) + 1)) - set(places))
            if len(places) < limit and (old < 0 or used[old] > 1):
                places.append(opened)
            trial, cost = labels.copy(), {}
            for c in places:
                trial[i] = c
                cost[c] = total(start, column, value, weight, scale, trial, square)
            # Of equal ones the first, however they round.
            best = next(c for c in cost if cost[c] <= min(cost.values()) + 1e-12)
            if old < 0 or cost[best] < cost[old] - 1e-12:
                labels[i] = best
                moves += 1
        if moves == before:
            break
    return moves, total(start, column, value, weight, scale, labels, square)
