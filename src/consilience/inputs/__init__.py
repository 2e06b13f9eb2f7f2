"""The one way in: whatever a user points at → result, data, known labels and where they came from."""

from consilience._check import InputError
from consilience.inputs.anndata_in import cell_embeddings
from consilience.inputs.guess import guess, has_own_ids, in_blocks, is_one_table, needs_opening, refuse_blocks
from consilience.inputs.known import column_names, known_labels_of, labels_by_name, labels_from, read_names
from consilience.inputs.open import as_ensemble, as_table, open_source
from consilience.inputs.provenance import Opened, Provenance, choose, ensemble_of
from consilience.inputs.reading_options import PARSING, READING, check_reading, split_reading

__all__ = [
    "PARSING",
    "READING",
    "InputError",
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
