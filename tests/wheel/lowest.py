"""Print the lowest version of each dependency that pyproject.toml allows, as constraints for pip: python lowest.py pyproject.toml."""

import re
import sys
import tomllib
from pathlib import Path


def lowest(project):
    """The lines of a constraints file.

    >>> lowest({"dependencies": ["numpy>=1.26", "cloudpickle>=3"], "optional-dependencies": {}})
    ['numpy==1.26', 'cloudpickle==3.*']
    """
    wanted = project["dependencies"] + [one for extra in project["optional-dependencies"].values() for one in extra]
    found = [re.match(r"([\w.-]+)(?:\[[^\]]*\])?>=([\w.]+)", one.replace(" ", "")) for one in wanted]
    return [f"{one[1]}=={one[2]}" + ("" if "." in one[2] else ".*") for one in found if one]


if __name__ == "__main__":
    print("\n".join(lowest(tomllib.loads(Path(sys.argv[1]).read_text())["project"])))
