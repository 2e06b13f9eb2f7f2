"""The explorer's calls, one file each. To add one: write its file, enter it in the table, and describe it in docs/explorer.md."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from consilience.explorer.calls import (
    agreement,
    annotations,
    boot,
    compare,
    components,
    contrast,
    detail,
    edit,
    export,
    flow,
    jobs,
    known,
    labels,
    linkage,
    maps,
    more_like,
    object_images,
    objects,
    planes,
    report,
    scales,
    search,
    selection,
    session,
    stripes,
    tray,
    why,
)
from consilience.explorer.calls.call import Call
from consilience.explorer.codec import Reply
from consilience.explorer.rows import BODY, PICKS
from consilience.explorer.snapshot import NAMED

WORDS = {"REF": rf"({NAMED})", "REFS": rf"({NAMED}(?:,{NAMED})*)", "NUMBER": r"([0-9]{1,9})", "KIND": "(mds|neighbors)"}


@dataclass(frozen=True)
class Route:
    """How a call is asked for, what answers it, and the most bytes of its body; capital words in the path are what the caller chooses."""

    method: str
    path: str
    answer: Callable[[Call], Reply]
    room: int = BODY

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The paths that it answers."""
        return re.compile("/api/" + re.sub("[A-Z]+", lambda word: WORDS[word[0]], self.path))


ROUTES = (
    Route("GET", "session", session.answer),
    Route("GET", "boot", boot.answer),
    Route("GET", "labels/REFS", labels.answer),
    Route("GET", "map/KIND", maps.answer),
    Route("GET", "detail/REF", detail.answer),
    Route("GET", "objects/REF", objects.answer),
    Route("POST", "objects/REF", objects.among, PICKS),
    Route("GET", "plane/NUMBER", planes.answer),
    Route("POST", "looks", object_images.some),
    Route("GET", "averages/REF", object_images.averages),
    Route("GET", "image/NUMBER", object_images.image),
    Route("GET", "why/REF", why.answer),
    Route("GET", "search", search.answer),
    Route("POST", "treat", selection.answer, PICKS),
    Route("POST", "contrast", contrast.answer, PICKS),
    Route("GET", "known/NUMBER", known.look),
    Route("POST", "known", known.save, PICKS),
    Route("DELETE", "known", known.drop),
    Route("GET", "compare/REF/REF", compare.answer),
    Route("GET", "flow/REFS", flow.answer),
    Route("GET", "scales/REF", scales.answer),
    Route("GET", "stripes/REF", stripes.answer),
    Route("GET", "components/REF", components.answer),
    Route("GET", "agreement", agreement.answer),
    Route("POST", "jobs", jobs.start),
    Route("GET", "jobs/NUMBER", jobs.look),
    Route("DELETE", "jobs/NUMBER", jobs.stop),
    Route("POST", "linkage", linkage.answer),
    Route("POST", "drop", more_like.drop),
    Route("POST", "tray", tray.save),
    Route("POST", "edit", edit.answer, PICKS),
    Route("GET", "kept", annotations.look),
    Route("POST", "kept", annotations.take, annotations.ROOM),
    Route("GET", "report/NUMBER", report.look),
    Route("POST", "export", export.answer),
)
