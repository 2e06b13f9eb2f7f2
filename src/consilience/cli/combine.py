"""consilience combine: one clustering from many."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from consilience.cli import outputs
from consilience.cli import shared_options as options
from consilience.cli.shared_options import option

TERMS = "confidence, support, floater, recurrence, nearest, confused, reliability, weight, stability"

INFERENCE = "consilience.consensus.methods.nbce:INFERENCE"
GROWN = "Start at a saved consensus: LABELS has its clusterings and objects, and more of either."
IN_BLOCKS = (
    "Read LABELS, Parquet, in row blocks within so much memory, such as '4GB'; --output is then a new folder of Parquet parts. "
    "A folder of Parquet files is always read so."
)


@options.verb("combine", "labels", TERMS)
@options.consensus_options(
    "How many; by default the median of the clusterings' numbers, 'auto' for the finest on which halves of them agree.",
    "How; 'auto' is 'dawid_skene' where errors are independent, and else 'walk'.",
    default="auto",
)
@option("--prior", "Of the cluster sizes, with --method nbce: sticks or symmetric.", of="consilience._kernels:PRIORS")
@option("--inference", "With --method nbce: sampling, or a variational bound.", of=INFERENCE)
@options.writing(
    option("--output -o", "Write id, cluster, confidence and support (.csv, .tsv, .parquet).", writes="any"),
    option("--floaters", "Write the objects with weak support.", writes="table"),
    option("--clusters", "Write how far to trust each cluster.", writes="table"),
    option("--members", "Write how far to trust each clustering.", writes="table"),
    option("--scales", "Write the numbers of clusters that '-k auto' finds, and how stable they are.", writes="table"),
    option("--tree", "Draw the tree over k of these scales (.png, .svg, .pdf).", writes="picture"),
    option("--save", "Keep the result in a new folder, for report, compare and --update.", writes="result"),
    option("--membership", "Also write how strongly each object belongs to each cluster.", is_flag=True),
)
@option(
    "--keep-all", "Leave no clustering out: neither those that agree with no other, nor the same twice.", is_flag=True
)
@options.input_option("--update previous", GROWN)
@option("--memory-limit", IN_BLOCKS, metavar="SIZE")
@options.reading(options.more_option, options.known_options, options.table_options)
@options.run_options
def command(
    labels: Path, how: dict[str, Any], out: dict[str, Any], previous: Any, memory_limit: Any, **settings: Any
) -> None:
    """Combine the clusterings in LABELS: a table with one column per clustering, a stored run or a saved result.

    \b
    consilience combine labels.csv --id cell -k 8 --output consensus.csv
    consilience combine labels.csv --id cell -k auto --known type --tree tree.png
    consilience combine labels.csv --method nbce --prior tsb --inference gibbs
    consilience combine seurat.csv --with sc3.csv --with cells.h5ad
    consilience combine run --save first
    consilience combine run --update first --save second
    consilience combine labels.parquet --memory-limit 4GB --output consensus
    """
    from consilience._check import InputError
    from consilience.blocks import as_blocks
    from consilience.cli.inputs import open_clusterings, print_notices
    from consilience.consensus import Consensus, combine, floaters
    from consilience.ensemble.from_sources import in_blocks
    from consilience.measures import stability
    from consilience.reports import draw
    from consilience.reports.clusters import match_known
    from consilience.reports.consensus import consensus_finding, consensus_summary
    from consilience.reports.files import object_table, write_objects, write_table
    from consilience.reports.spreadsheet_formulas import without_formulas

    n_clusters, method, membership = settings.pop("n_clusters"), settings.pop("method"), out["membership"]
    settings = {name: value for name, value in settings.items() if value is not None}
    given = options.given_by_user()
    if (given & {"prior", "inference"}) and method != "nbce":
        raise InputError("--prior and --inference are options of NBCE: add --method nbce")
    if previous is not None and (own := sorted(given & {"n_clusters", "method", "keep_all"})):
        raise InputError(f"--{own[0].replace('_', '-')} is that of the consensus that --update starts at: leave it out")
    of_scales = [name for name in ("tree", "scales") if out[name]]
    if of_scales and (n_clusters != "auto" or method == "nbce"):
        about = "is about the scales that --n-clusters auto finds: add it, with a method other than nbce"
        raise InputError(f"--{of_scales[0]} {about}")
    if membership and out["output"] is None:
        raise InputError("--membership says what to write: name a file with --output too")
    by_blocks = memory_limit is not None or in_blocks(labels)
    if out["output"] and not by_blocks:
        outputs.check_place(out["output"], "table")
    weak, matches, agreement, id_name = None, {}, None, "id"
    if by_blocks:
        reading = _reading_of_blocks(how)
        if in_blocks(labels) or labels.suffix.lower() == ".parquet":  # of which only the first rows are read for this
            print_notices(as_blocks(labels, **reading), err=True)
        reading |= {"memory_limit": memory_limit, "output": out["output"]}
        result = combine(labels, n_clusters, method, **reading, **settings)
    else:
        opened = open_clusterings(labels, **how)
        print_notices(opened, err=True)
        ensemble, id_name = opened.ensemble, opened.id_name
        if previous is None:
            result = combine(ensemble, n_clusters, method, **settings)
        else:
            result = Consensus.load(previous).update(ensemble)
        weak = floaters(ensemble, result)
        matches = {name: match_known(values, result.labels) for name, values in opened.known.items()}
        if ensemble.n_clusterings > 1 and previous is None:
            agreement = stability(ensemble, "jaccard", n_jobs=settings["n_jobs"])
    if of_scales and result.scales is None:
        raise InputError(f"--{of_scales[0]} has nothing to show, since no scales were found: {result.note}")
    if out["output"] and not by_blocks:  # which have written it
        write_objects(object_table(result, membership=membership), out["output"], id_name)
    if out["floaters"] and weak is not None:
        write_objects(weak.set_index("id"), out["floaters"], id_name)
    keys = {"clusters": "cluster", "members": "clustering", "scales": "n_clusters"}
    for name, key in keys.items():
        table = getattr(result, name)
        if out[name] and table is not None:
            write_table(without_formulas(table.set_index(key)), out[name])
    if out["tree"]:
        draw(result, out["tree"], "tree_over_k")
    if out["save"]:
        replace(result, source=labels.resolve().name).save(out["save"])
    outputs.tell(labels, consensus_finding, consensus_summary, result, known=matches, stability=agreement)


def _reading_of_blocks(how: dict[str, Any]) -> dict[str, Any]:
    """Which columns to read of Parquet in blocks; what needs all objects together is refused."""
    from consilience._check import InputError

    in_memory = {*how, "membership", "floaters", "tree", "previous"} - {"columns", "id_column"}
    params, given = click.get_current_context().command.params, options.given_by_user() & in_memory
    if flags := [param.opts[0] for param in params if param.name in given]:
        raise InputError(f"{flags[0]} needs all labels in memory, and these are read in blocks: leave it out")
    return {"columns": how["columns"] or None, "id_column": how["id_column"]}
