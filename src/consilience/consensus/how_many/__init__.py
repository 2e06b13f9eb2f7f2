"""How many."""
