"""Every package keeps to its budget of lines and exported names, and every number that decides has its evidence.

A package grows only by a commit that raises its line in `[tool.consilience.budget]` of pyproject.toml and says why.
A number at the top of a module either has a row in benchmarks/RULES.md (what it decides, what it is worth) or is a safeguard of memory,
time, precision or display, with a comment `safeguard: why` on its line or on the line above.
"""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "consilience"
BUDGET = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["consilience"]["budget"]
RULES = (ROOT / "benchmarks" / "RULES.md").read_text(encoding="utf-8")


def files(package: str) -> list[Path]:
    """The modules of a package; of "top", those that lie in none."""
    return sorted(SOURCE.glob("*.py") if package == "top" else (SOURCE / package).rglob("*.py"))


def exported(path: Path) -> int:
    """How many names `__all__` of an `__init__` holds."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__":
            return len(ast.literal_eval(node.value))
    return 0


@pytest.mark.parametrize("package", BUDGET)
def test_a_package_keeps_to_its_budget(package: str) -> None:
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files(package))
    names = sum(exported(path) for path in files(package) if path.name == "__init__.py" and not package.startswith("_"))
    most_lines, most_names = BUDGET[package]
    assert lines <= most_lines, (
        "raise its line in pyproject.toml in a commit of its own that says why, or take something away"
    )
    assert names <= most_names
    assert lines >= 0.9 * most_lines, "lower the budget, so that what was taken away stays away"


def test_every_package_has_a_budget() -> None:
    packages = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()}
    assert packages | {"top"} == set(BUDGET)


def is_number(node: ast.expr) -> bool:
    """Whether an expression is written in numbers alone: 5, -1, 2**20, (0.05, 0.1), np.log(2)."""
    match node:
        case ast.Constant(value=value):
            return isinstance(value, int | float) and not isinstance(value, bool)
        case ast.UnaryOp(operand=operand):
            return is_number(operand)
        case ast.BinOp(left=left, right=right):
            return is_number(left) and is_number(right)
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return bool(elements) and all(map(is_number, elements))
        case ast.Call(func=ast.Attribute(), args=args, keywords=[]):
            return bool(args) and all(map(is_number, args))
    return False


def numbers(path: Path) -> Iterator[str]:
    """Names of the numbers at the top of a module that are no safeguards."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    for node in ast.parse(text).body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        pairs = [(target, node.value)]
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = list(zip(target.elts, node.value.elts, strict=True))
        before = lines[node.lineno - 2] if node.lineno > 1 and lines[node.lineno - 2].startswith("#") else ""
        if "safeguard:" in " ".join([before, *lines[node.lineno - 1 : node.end_lineno]]):
            continue
        yield from (
            name.id for name, value in pairs if isinstance(name, ast.Name) and name.id.isupper() and is_number(value)
        )


def test_every_number_that_decides_has_its_row() -> None:
    deciding = [
        f"{path.relative_to(SOURCE).as_posix()}: {name}" for path in SOURCE.rglob("*.py") for name in numbers(path)
    ]
    assert [number for number in deciding if f"| `{number}` |" not in RULES] == []
    assert len(deciding) < 120
