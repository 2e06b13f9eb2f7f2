"""The explorer in a notebook: the same page, asked and answered through the notebook's own messages."""

import json
from typing import Any
from urllib.parse import parse_qsl

import pandas as pd

from consilience.explorer.calls.export import column_names
from consilience.explorer.server import Asset
from consilience.explorer.session import Session

try:
    import anywidget
    import traitlets

    from consilience.explorer.api import Api
except ImportError as missing:
    needs = "the explorer in a notebook needs anywidget and Starlette"
    raise ImportError(f"{needs}: pip install 'consilience[notebook]'") from missing


class Explorer(anywidget.AnyWidget):
    """The explorer as a widget.

    Attributes
    ----------
    tray : list of {"ref", "name"}
        The clusterings that were put into the tray.
    selected : str
        The ref of the clustering that is chosen now.
    height : int
        Of the widget, in pixels; 0 is that of the notebook's window.
    selection : DataFrame
        The labels of those in the tray, or of the chosen one while the tray is empty: a row per object, labels as they were
        given, or numbers of clusters (−1 missing) where they have no names.
    """

    _esm = traitlets.Unicode().tag(sync=True)
    _css = traitlets.Unicode().tag(sync=True)
    tray = traitlets.List(traitlets.Dict()).tag(sync=True)
    selected = traitlets.Unicode().tag(sync=True)
    height = traitlets.Int(0, min=0).tag(sync=True)
    selection = traitlets.Instance(pd.DataFrame)

    def __init__(self, session: Session, assets: dict[str, Asset]) -> None:
        self._api = Api(session)
        module, style = (assets[path].body.decode() for path in ("/explorer.js", "/explorer.css"))
        super().__init__(_esm=module, _css=style, selection=self._labels([]))
        self.on_msg(self._answer)
        self.observe(self._choose, names=["tray", "selected"])

    def _answer(self, widget: Any, message: Any, buffers: Any) -> None:
        path, _, query = str(message.get("path", "")).partition("?")
        body = b"" if message.get("body") is None else json.dumps(message["body"]).encode()
        reply = self._api.call(str(message.get("method", "")), path, dict(parse_qsl(query)), body)
        name = reply.headers.get("Content-Disposition", "").partition('filename="')[2].rstrip('"') or None
        told = {"id": message.get("id"), "status": reply.status, "type": reply.content_type, "name": name}
        self.send({**told, "headers": dict(reply.headers)}, [reply.body])

    def _choose(self, change: Any) -> None:
        items = [(str(item.get("ref", "")), str(item.get("name") or item.get("ref", ""))) for item in self.tray]
        self.selection = self._labels(items or [(self.selected, self.selected)] * bool(self.selected))

    def _labels(self, items: list[tuple[str, str]]) -> pd.DataFrame:
        session, snapshot = self._api.session, self._api.session.snapshot
        names = column_names(session, [name for _, name in items])
        labels = [snapshot.named_labels(snapshot.displayed(snapshot.ref(ref))) for ref, _ in items]
        ids = None if session.ids is None else pd.Index(session.ids, name=session.source.id_name)
        index = pd.RangeIndex(snapshot.n_objects) if ids is None else ids
        return pd.DataFrame(dict(zip(names, labels, strict=True)), index=index)

    def close(self) -> None:
        """Stop the job under way, and the widget."""
        self._api.close()
        super().close()
