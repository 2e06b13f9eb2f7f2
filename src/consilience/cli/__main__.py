"""``python -m consilience.cli``, as ``python -m consilience``."""

from consilience.__main__ import main

main()
