"""Faults on purpose, and what they cost: ``make faults`` in full, tests in small (``tests/test_faults.py``)."""
