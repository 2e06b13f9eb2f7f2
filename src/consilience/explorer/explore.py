"""One call from anything to the explorer: in a browser, or as a widget in a notebook."""

import sys
from os import PathLike
from pathlib import Path
from typing import Any

from consilience._check import InputError, check_count
from consilience.inputs.known_labels import labels_by_name


def explore(
    source: Any,
    *,
    data: Any = None,
    known: Any = None,
    kind: str = "auto",
    axes: Any = None,
    names: Any = None,
    images: Any = None,
    images_shape: Any = None,
    curves: Any = None,
    linkage: str | None = None,
    n_groups: int | None = None,
    n_clusterings: int = 1000,
    n_clusters: Any = None,
    methods: Any = "zipf+pca",
    base: Any = None,
    random_state: int = 0,
    store: Any = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
    session: Any = None,
    browser: bool = True,
    block: bool | None = None,
    **reading: Any,
) -> Any:
    """Look at many clusterings: their tree, scores and maps, the data in the colors of each, and what to take away.

    Parameters
    ----------
    source : path, Ensemble, MetaClustering, Agreement, Table, DataFrame or array
        A stored run, a saved agreement, labels that you have, or data, which is clustered first.
    data : Table, DataFrame, array or path, optional
        The measurements that the clusterings are of: they give the plane, the features that mark clusters, and "more like this".
    known : labels, DataFrame, mapping of name to labels, or names of columns, optional
        What is known of the objects; text names columns of the table that is read.
    kind : {"auto", "data", "distances", "labels"}
        What a table holds; see :func:`consilience.inputs.open_source`.
    axes : two names of columns, the name of an embedding, or an (n_objects, 2) array, optional
        The plane that is shown first; by default an embedding of two columns in the `obsm` of an AnnData, else the two main axes of the
        data, or of the labels where there is none. All embeddings can be chosen on the page.
    names : sequence, name of a vector in the npz file, or path of a text file, optional
        Of the columns of the data, such as words.
    images : name of a column of paths, or (n_objects, height, width) or (n_objects, height, width, 3) array, optional
        What the objects look like. Paths are those of PNG, JPEG, GIF, WebP or BMP files inside the folder of the table (of the process for
        tables in memory); nothing outside it is served.
    images_shape : (height, width), optional
        The columns of the data are the pixels of images.
    curves : bool or names of columns, optional
        The columns of the data, in their order, are the points of a curve.
    linkage, n_groups
        Of the tree, as in :func:`consilience.organize`; the linkage is by default the one that was shown last, or Ward's.
    n_clusterings, n_clusters, methods, base, random_state, store
        How data is clustered, as in :func:`consilience.generate`, but by default into 2 … √n clusters, at most 20; `base` also for more
        of a run that was made with one.
    n_jobs : int, optional
    progress : bool, optional
    host : str
        The address to listen at: by default this machine alone.
    port : int
        0 takes a free one.
    session : path, optional
        A file that "Save session" wrote, of the same run.
    browser : bool
        Open the page.
    block : bool, optional
        True answers until Ctrl-C; False returns a handle with ``url`` and ``close()``. By default a notebook gets a widget, and
        any other process blocks.
    **reading
        How to read a table, such as ``id_column``: parameters of :func:`consilience.tables.read_table`. They are for `data` if it is
        given, and for `source` otherwise.

    Returns
    -------
    Explorer widget, Server or None

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.datasets import load_beads, load_beads_labels
    >>> server = cs.explore(load_beads_labels(), data=load_beads(), browser=False, block=False)  # doctest: +SKIP
    >>> server.url  # doctest: +SKIP
    'http://127.0.0.1:40961/#token=…'
    >>> server.close()  # doctest: +SKIP
    """
    # here, so that the package is quick to import
    from consilience.explorer.calls.tray_and_session_file import open_session
    from consilience.explorer.server import Server, load_page, prepare, run
    from consilience.explorer.sources import GenerateOptions, open_clusterings

    check_count("n_clusterings", n_clusterings, 2)
    if isinstance(known, str) or (isinstance(known, list) and known and all(isinstance(name, str) for name in known)):
        reading["known"], known = known, None
    if isinstance(images, str):
        aside = reading.get("known", [])
        reading["known"] = [*([aside] if isinstance(aside, str) else aside), images]
    shown_here = block is None and in_notebook()
    if shown_here:
        from consilience.explorer.widget import Explorer
    assets = load_page() if shown_here else prepare(host)
    folder = None if store is None else Path(store)
    options = GenerateOptions(n_clusterings, n_clusters, methods, base, random_state, folder, n_jobs, progress)
    found = open_clusterings(source, kind=kind, reading={} if data is not None else reading, options=options)
    if store is not None and found.opened.provenance.store is None:
        raise InputError("store is where clusterings of data are kept, and these are made already: leave it out")
    if data is not None:
        found = found.with_data(data, kind="distances" if kind == "distances" else "data", **reading)
    table = source if data is None else data
    path = Path(table) if isinstance(table, (str, PathLike)) else None
    if names is not None:
        found = found.named(names, path)
    found, look = found.look(images, images_shape, curves, Path.cwd() if path is None else path.parent)
    how = {"axes": axes, "linkage": linkage, "n_groups": n_groups, "base": base, "n_jobs": n_jobs, "progress": progress}
    shown = found.session(look=look, known=labels_by_name(known), **how)
    if session is not None:
        open_session(shown, session)
    if shown_here:
        return Explorer(shown, assets)
    server = Server(shown, host=host, port=port, assets=assets)
    if block is False:
        server.start()
        if browser:
            server.open_browser()
        return server
    return run(server, browser=browser, say=lambda text: print(text, file=sys.stderr))


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook, which shows widgets."""
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython

    return hasattr(get_ipython(), "kernel")
