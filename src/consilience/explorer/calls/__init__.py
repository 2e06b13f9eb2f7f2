"""The explorer's calls, a file for each panel. A new one goes into its file, the table here, and docs/explorer.md."""

from collections.abc import Callable

from consilience.explorer.calls.call import Call
from consilience.explorer.calls.compare_and_flow import compare, flow, scales
from consilience.explorer.calls.components_and_agreement import agreement, components
from consilience.explorer.calls.detail import detail
from consilience.explorer.calls.edit_and_saved_labels import drop_label, edit, known_label, save_label
from consilience.explorer.calls.export import export
from consilience.explorer.calls.jobs import job_state, start_job, stop_job
from consilience.explorer.calls.label_stripes import stripes
from consilience.explorer.calls.more_like import drop_added
from consilience.explorer.calls.objects import averages, image, looks, objects_among, objects_page, search_objects
from consilience.explorer.calls.picked import contrast, treat
from consilience.explorer.calls.planes_and_maps import clustering_map, object_plane
from consilience.explorer.calls.report import written_report
from consilience.explorer.calls.session import boot, session_summary, set_linkage, shown_labels
from consilience.explorer.calls.tray_and_session_file import SESSION_ROOM, save_tray, saved_session, take_session
from consilience.explorer.calls.why import why
from consilience.explorer.checks import BODY, PICKS
from consilience.explorer.replies import Reply

# method, path, what answers, and the most bytes of its body
CALLS: tuple[tuple[str, str, Callable[[Call], Reply], int], ...] = (
    ("GET", "session", session_summary, BODY),
    ("GET", "boot", boot, BODY),
    ("GET", "labels/{refs}", shown_labels, BODY),
    ("GET", "map/{kind}", clustering_map, BODY),
    ("GET", "detail/{ref}", detail, BODY),
    ("GET", "objects/{ref}", objects_page, BODY),
    ("POST", "objects/{ref}", objects_among, PICKS),
    ("GET", "plane/{number:number}", object_plane, BODY),
    ("POST", "looks", looks, BODY),
    ("GET", "averages/{ref}", averages, BODY),
    ("GET", "image/{number:number}", image, BODY),
    ("GET", "why/{ref}", why, BODY),
    ("GET", "search", search_objects, BODY),
    ("POST", "treat", treat, PICKS),
    ("POST", "contrast", contrast, PICKS),
    ("GET", "known/{number:number}", known_label, BODY),
    ("POST", "known", save_label, PICKS),
    ("DELETE", "known", drop_label, BODY),
    ("GET", "compare/{ref}/{other}", compare, BODY),
    ("GET", "flow/{refs}", flow, BODY),
    ("GET", "scales/{ref}", scales, BODY),
    ("GET", "stripes/{ref}", stripes, BODY),
    ("GET", "components/{ref}", components, BODY),
    ("GET", "agreement", agreement, BODY),
    ("POST", "jobs", start_job, BODY),
    ("GET", "jobs/{number:number}", job_state, BODY),
    ("DELETE", "jobs/{number:number}", stop_job, BODY),
    ("POST", "linkage", set_linkage, BODY),
    ("POST", "drop", drop_added, BODY),
    ("POST", "tray", save_tray, BODY),
    ("POST", "edit", edit, PICKS),
    ("GET", "kept", saved_session, BODY),
    ("POST", "kept", take_session, SESSION_ROOM),
    ("GET", "report/{number:number}", written_report, BODY),
    ("POST", "export", export, BODY),
)
