"""An ensemble on disk: a folder of Parquet parts, one row per clustering, that outlives a killed run.

What lies in the folder, how other tools read it, and what survives what: docs/store.md.
"""

from consilience.ensemble.store.store import Store, StoreWarning

__all__ = ["Store", "StoreWarning"]
