"""Print the lowest version of each dependency that pyproject.toml allows, as constraints for pip: python lowest.py pyproject.toml."""

import re
import sys
import tomllib
from pathlib import Path

project = tomllib.loads(Path(sys.argv[1]).read_text())["project"]
wanted = project["dependencies"] + [one for extra in project["optional-dependencies"].values() for one in extra]
for requirement in wanted:
    name, lowest = (
        re.match(r"([\w.-]+)(?:\[[^\]]*\])?>=([\w.]+)", requirement.replace(" ", "")).groups()
        if ">=" in requirement
        else (None, None)
    )
    if name:
        print(f"{name}=={lowest}" if lowest.count(".") else f"{name}=={lowest}.*")
