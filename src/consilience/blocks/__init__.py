"""Beyond the memory of one machine: labels in row blocks, by Dask or one block after the other; owns no algorithm."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from consilience.blocks.label_blocks import LabelBlocks, as_blocks
    from consilience.blocks.written_consensus import WrittenConsensus

# Names are imported when they are asked for: a worker that reads blocks needs none of what the answer is made with.
_OWNERS = {"LabelBlocks": "label_blocks", "WrittenConsensus": "written_consensus", "as_blocks": "label_blocks"}
__all__ = ["LabelBlocks", "WrittenConsensus", "as_blocks"]


def __getattr__(name: str) -> Any:
    if name not in _OWNERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"consilience.blocks.{_OWNERS[name]}"), name)
