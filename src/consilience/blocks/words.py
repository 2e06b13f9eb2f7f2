"""What the run log calls the work on a part."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def says(words: str) -> Callable[[F], F]:
    """Words for what a function does with a part.

    Examples
    --------
    >>> from functools import partial
    >>> @says("adding up")
    ... def add(part, more): ...
    >>> words_of(partial(add, more=2)), words_of(max)
    ('adding up', 'max')
    """

    def with_words(function: F) -> F:
        function.words = words  # type: ignore[attr-defined]
        return function

    return with_words


def words_of(function: Callable[..., Any]) -> str:
    """The words of a function, which may have been given some arguments; its name if it has none."""
    while isinstance(function, partial):
        function = function.func
    return str(getattr(function, "words", getattr(function, "__name__", "task")))
