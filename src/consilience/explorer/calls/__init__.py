"""The explorer's calls, a file for each panel. A new one goes into its file, the table here, and docs/explorer.md."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from consilience.explorer.calls.call import Call
from consilience.explorer.calls.compare import compare, flow, scales
from consilience.explorer.calls.components import agreement, components
from consilience.explorer.calls.detail import detail
from consilience.explorer.calls.edit import drop_label, edit, known_label, save_label
from consilience.explorer.calls.export import export
from consilience.explorer.calls.jobs import job_state, start_job, stop_job
from consilience.explorer.calls.labels import boot, shown_labels
from consilience.explorer.calls.maps import clustering_map, object_plane
from consilience.explorer.calls.more_like import drop_added
from consilience.explorer.calls.objects import averages, image, looks, objects_among, objects_page
from consilience.explorer.calls.picked import contrast, treat
from consilience.explorer.calls.report import written_report
from consilience.explorer.calls.saved import SESSION_ROOM, save_tray, saved_session, take_session
from consilience.explorer.calls.search import search_objects
from consilience.explorer.calls.session import session_summary, set_linkage
from consilience.explorer.calls.stripes import stripes
from consilience.explorer.calls.why import why
from consilience.explorer.checks import BODY, PICKS
from consilience.explorer.replies import Reply
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
    Route("GET", "session", session_summary),
    Route("GET", "boot", boot),
    Route("GET", "labels/REFS", shown_labels),
    Route("GET", "map/KIND", clustering_map),
    Route("GET", "detail/REF", detail),
    Route("GET", "objects/REF", objects_page),
    Route("POST", "objects/REF", objects_among, PICKS),
    Route("GET", "plane/NUMBER", object_plane),
    Route("POST", "looks", looks),
    Route("GET", "averages/REF", averages),
    Route("GET", "image/NUMBER", image),
    Route("GET", "why/REF", why),
    Route("GET", "search", search_objects),
    Route("POST", "treat", treat, PICKS),
    Route("POST", "contrast", contrast, PICKS),
    Route("GET", "known/NUMBER", known_label),
    Route("POST", "known", save_label, PICKS),
    Route("DELETE", "known", drop_label),
    Route("GET", "compare/REF/REF", compare),
    Route("GET", "flow/REFS", flow),
    Route("GET", "scales/REF", scales),
    Route("GET", "stripes/REF", stripes),
    Route("GET", "components/REF", components),
    Route("GET", "agreement", agreement),
    Route("POST", "jobs", start_job),
    Route("GET", "jobs/NUMBER", job_state),
    Route("DELETE", "jobs/NUMBER", stop_job),
    Route("POST", "linkage", set_linkage),
    Route("POST", "drop", drop_added),
    Route("POST", "tray", save_tray),
    Route("POST", "edit", edit, PICKS),
    Route("GET", "kept", saved_session),
    Route("POST", "kept", take_session, SESSION_ROOM),
    Route("GET", "report/NUMBER", written_report),
    Route("POST", "export", export),
)
