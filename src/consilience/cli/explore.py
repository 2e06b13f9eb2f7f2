"""consilience explore: see many clusterings in the browser, choose, refine, take away."""

from pathlib import Path
from typing import Any

import click

from consilience.cli import shared_options as options
from consilience.cli.shared_options import option

OF_DATA = {"n_clusterings", "n_clusters", "methods", "output", "random_state"}  # options that say how data is clustered

PLANE = (
    "The plane: two columns of the data, or an embedding in the obsm of an h5ad; by default an embedding of two columns, or the two "
    "main axes."
)


@options.verb("explore", "source")
@options.kind_option("consilience.explorer.sources:KINDS")
@option("--distances", "SOURCE is a matrix of distances, as --kind distances says too.", is_flag=True)
@option("--xy", PLANE, type=options.Names())
@options.column_names_option
@option("--images", "Column with the paths of images, inside the table's folder.", metavar="COLUMN")
@option("--images-shape", "The columns are the pixels of images, such as 8x8 or 32x32x3.", metavar="HxW")
@option("--curves", "The columns, in their order, are the points of a curve.", is_flag=True)
@options.linkage_option
@option("--n-groups -g", "Where the tree is cut at first.", type=click.IntRange(min=1))
@option("--n-clusterings -n", "Of data: how many clusterings.", type=click.IntRange(min=2), default=1000)
@options.clusters_option("Of data: clusters in each.", "2 to √n for n objects, at most 20")
@options.methods_option()
@options.base_option
@option("--output -o", "Of data: the folder of the run; by default memory.", writes="folder")
@option("--host", "Listen at this address of the machine instead of for itself alone.", default="127.0.0.1")
@option("--port", "By default any that is free.", type=click.IntRange(0, 65535), default=0, show_default=False)
@option("--session session_file", "A session of this run that somebody saved on the page.", type=options.INPUT)
@option("--browser/--no-browser", "Open the page (the default).", default=True, show_default=False)
@options.reading(options.data_options, options.known_options, options.more_option, options.table_options)
@options.block(options.seed_option, options.jobs_option)
def command(source: Path, how: dict[str, Any], kind: str, distances: bool, names: str | None, **given: Any) -> None:
    """Explore SOURCE: a stored run, a table of data (clustered first), or a table with one column of labels per clustering.

    \b
    consilience explore run --data beads.csv --id bead --known shape,color
    consilience explore beads.csv --id bead --known shape,color -k 4 -n 500 -o run
    consilience explore labels.csv --id bead
    consilience explore counts.npz --names vocab -k 10
    consilience explore digits.csv --images-shape 8x8 -k 10
    """
    from consilience._check import InputError, printable
    from consilience.cli.inputs import open_clusterings, print_notices
    from consilience.explorer.calls.tray_and_session_file import open_session
    from consilience.explorer.server import Server, prepare, run
    from consilience.explorer.sources import GenerateOptions, ready

    assets, typed = prepare(given["host"]), options.given_by_user()
    kind = "distances" if distances else kind
    data_kind = "distances" if kind == "distances" else "data"
    if how["more"] and kind not in ("auto", "labels"):
        what = f"--with names more files of clusterings, and --kind {kind} is about one table"
        raise InputError(f"{what}: leave one of them out")
    if how["data"] is not None or how["more"]:
        kind = "labels"
    if given["images"] is not None:
        how["known"] = [*how["known"], given["images"]]
    opened = open_clusterings(source, kind=kind, data_kind=data_kind, **how)
    of_data = opened.kind in ("data", "distances")
    if not of_data and typed & OF_DATA:
        what = f"{source} holds clusterings, and -n, -k, --methods, --output and --seed say how a table of data is clustered"
        raise InputError(f"{what}: leave them out")
    made_by = ("n_clusterings", "n_clusters", "methods", "base", "random_state", "output", "n_jobs")
    table = how["data"] or source
    found = ready(opened, GenerateOptions(*(given[name] for name in made_by))).with_embeddings(table)
    if names is not None:
        found = found.named(names, table)
    found, look = found.look(given["images"], given["images_shape"], given["curves"], table.parent)
    tree = {"linkage": given["linkage"] if "linkage" in typed else None, "n_groups": given["n_groups"]}
    session = found.session(axes=given["xy"], look=look, base=given["base"], n_jobs=given["n_jobs"], **tree)
    if given["session_file"] is not None:
        open_session(session, given["session_file"])
    server = Server(session, host=given["host"], port=given["port"], assets=assets)
    if kind == "auto" and not source.is_dir():
        click.echo(f"{printable(source.name)} is taken for {opened.kind}; --kind says otherwise.", err=True)
    print_notices(opened, standardize=True if opened.result is None else None, err=True)
    if of_data and given["output"] is None:
        click.echo("The clusterings are in memory only; -o FOLDER keeps them.", err=True)
    run(server, browser=given["browser"], say=lambda text: click.echo(printable(text), err=True))
