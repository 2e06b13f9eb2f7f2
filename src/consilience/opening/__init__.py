"""The one way in: whatever a user points at → result, data, known labels and where they came from."""

from consilience.opening.cells import cell_embeddings
from consilience.opening.kinds import guess, has_own_ids, in_blocks, is_one_table, needs_opening, refuse_blocks
from consilience.opening.known import column_names, known_labels_of, labels_by_name, labels_from
from consilience.opening.naming import read_names
from consilience.opening.reading import PARSING, READING, check_reading, split_reading
from consilience.opening.record import Opened, Provenance, choose, ensemble_of
from consilience.opening.sources import as_ensemble, as_table, open_source

__all__ = [
    "PARSING",
    "READING",
    "Opened",
    "Provenance",
    "as_ensemble",
    "as_table",
    "cell_embeddings",
    "check_reading",
    "choose",
    "column_names",
    "ensemble_of",
    "guess",
    "has_own_ids",
    "in_blocks",
    "is_one_table",
    "known_labels_of",
    "labels_by_name",
    "labels_from",
    "needs_opening",
    "open_source",
    "read_names",
    "refuse_blocks",
    "split_reading",
]
