"""`analyze`: what an archive holds, with the numbers of one machine."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Sequence

from pyspark import SparkContext

from .executable import Executable, scratch_folder
from .hadoop import Hadoop
from .inputs import find_inputs
from .outputs import publish, refuse_existing
from .pipeline import MergeRange, Work, choose_cuts, fetch_ranges, merge_ranges, read_runs


def analyze(context: SparkContext, options: Namespace) -> dict:
    """Writes the tables and the report that the options name; returns the figures of the run."""
    hadoop = Hadoop.of_driver(context)
    refuse_existing(hadoop, (options.output, options.html), options.force)
    parallelism = context.defaultParallelism
    inputs = find_inputs(hadoop, options.inputs, options.split_size, parallelism)
    date = os.environ.get("SOURCE_DATE_EPOCH", str(inputs.changed))
    executable = Executable(options.executable, {"SOURCE_DATE_EPOCH": date})
    threads = int(context.getConf().get("spark.task.cpus", "1"))
    read = ("analyze", "--partial", *options.read_options, *options.table_options)
    work = Work(executable, read, hadoop.configuration_xml(), threads)
    with scratch_folder() as folder:
        runs = read_runs(context, inputs, work)
        cuts = choose_cuts(runs, options.ranges, parallelism, executable, folder)
        tables = merge_ranges(runs, cuts, work, _analyzing(options.table_options))
        names, records = fetch_ranges(tables, folder, "range")
        _write_outputs(hadoop, options, executable, folder, names)
        return {
            "files": inputs.files,
            "splits": len(inputs.shares),
            "ranges": len(names),
            "bytesRead": inputs.bytes,
            "bytesShuffled": sum(record.shuffled for record in records),
        }


def _analyzing(options: Sequence[str]) -> MergeRange:
    def analyze_range(executable: Executable, folder: str, number: int, runs: Sequence[str]) -> str:
        place = ("--partial", "--cuts", "cuts.txt", "--range", number, "--tmp", folder)
        executable.run("analyze", *options, *place, *runs, "-o", "range.json", folder=folder)
        return "range.json"

    return analyze_range


def _write_outputs(
    hadoop: Hadoop, options: Namespace, executable: Executable, folder: str, ranges: Sequence[str]
) -> None:
    force = ("--force",) if options.force else ()
    title = () if options.title is None else ("--title", options.title)
    command = ("analyze", *force, *options.table_options, *ranges)

    def make_tables(path: str) -> None:
        executable.run(*command, "-o", path, folder=folder, as_json=options.json)

    def make_report(path: str) -> None:
        executable.run(*command, *title, "--html", path, "-o", "tables.txt", folder=folder)

    for path, make in ((options.output, make_tables), (options.html, make_report)):
        if path is not None:
            publish(hadoop, path, options.force, make)
