"""The one way in: whatever a user points at → result, data, known labels and where they came from."""

from consilience._check import InputError
from consilience.inputs.known_labels import known_labels_of
from consilience.inputs.open import as_ensemble, as_table, open_source
from consilience.inputs.provenance import Opened, Provenance

__all__ = ["InputError", "Opened", "Provenance", "as_ensemble", "as_table", "known_labels_of", "open_source"]
