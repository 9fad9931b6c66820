"""`generate`: the parts of a map of an index, in a folder of any Hadoop file system."""

from __future__ import annotations

import os
import uuid
from argparse import Namespace
from collections.abc import Sequence

from pyspark import SparkContext

from .executable import Executable, MementoMapError, scratch_folder
from .hadoop import Hadoop
from .inputs import find_inputs
from .pipeline import Run, Work, merge_range, read_share, write_footer, write_slice

#: Default bytes of runs per range.
_RANGE_BYTES = 32 * 2**20
#: With at least this many blocks per range, `partition --into` chooses cuts from the first keys of blocks alone.
_BLOCKS_PER_RANGE = 32


def generate(context: SparkContext, options: Namespace) -> dict:
    """Writes the parts of the map to the output folder; returns the figures of the run.

    The driver reads the footers of runs, and their keys only if there are few blocks.
    """
    hadoop = Hadoop.of_driver(context)
    output = hadoop.full_path(options.output)
    if not options.force and hadoop.exists(output):
        raise MementoMapError(f"{output}: already exists; use another, or --force to replace it [MM_USAGE]")
    parallelism = context.defaultParallelism
    inputs = find_inputs(hadoop, options.inputs, options.split_size, parallelism)
    date = os.environ.get("SOURCE_DATE_EPOCH", str(inputs.changed))
    executable = Executable(options.executable, {"SOURCE_DATE_EPOCH": date})
    threads = int(context.getConf().get("spark.task.cpus", "1"))
    folder, _, name = output.rpartition("/")
    unfinished = f"{folder}/_{name}.{uuid.uuid4().hex}.unfinished"
    work = Work(executable, options.read_options, hadoop.configuration_xml(), threads, unfinished)
    try:
        with scratch_folder() as scratch:
            executable.run("partition", *options.read_options, "-", "-o", "nothing.run", folder=scratch)
            numbered = list(enumerate(inputs.shares))
            runs = context.parallelize(numbered, len(numbered)).map(lambda one: read_share(work, *one)).collect()
            _refuse_logs(runs)
            wanted = options.ranges or max(parallelism, -(-sum(run.size for run in runs) // _RANGE_BYTES))
            cuts = _choose_cuts(hadoop, runs, wanted, executable, scratch)
        numbers = range(1, cuts.count(b"\n") + 2)
        known = context.broadcast(runs)
        merging = context.parallelize(numbers, len(numbers))
        parts = merging.map(lambda number: merge_range(work, number, cuts, known.value)).collect()
        if options.force and hadoop.exists(output):
            hadoop.delete(output)
        hadoop.rename(f"{unfinished}/map", output)
    finally:
        hadoop.delete(unfinished)
    return {
        "files": inputs.files,
        "splits": len(runs),
        **{name: sum(run.summary[name] for run in runs) for name in ("lines", "captures", "bad", "damaged")},
        "ranges": len(parts),
        "rows": sum(rows for rows, _ in parts),
        "bytesRead": inputs.bytes,
        "bytesMerged": sum(merged for _, merged in parts),
    }


def _refuse_logs(runs: Sequence[Run]) -> None:
    """Rejects logs of aggregators: the same URI is in many of them, and its mementos must not be added up."""
    for run in runs if len(runs) > 1 else ():
        if run.footer["description"].get("isSample") and not run.footer["keys"]["distinct"]:
            raise MementoMapError("logs of aggregators cannot be read in splits; use mementomap generate [MM_USAGE]")


def _choose_cuts(hadoop: Hadoop, runs: Sequence[Run], wanted: int, executable: Executable, folder: str) -> bytes:
    """The keys between ranges, one per line."""
    if wanted == 1:
        return b""
    blocks = sum(len(run.footer["run"]["blocks"]) for run in runs)
    for number, run in enumerate(runs):
        path = os.path.join(folder, f"{number}.run")
        if blocks >= wanted * _BLOCKS_PER_RANGE:
            write_footer(path, run.footer)
        else:
            write_slice(hadoop, run, b"", None, path)
    names = [f"{number}.run" for number in range(len(runs))]
    executable.run("partition", "--into", wanted, *names, "-o", "cuts.txt", folder=folder)
    with open(os.path.join(folder, "cuts.txt"), "rb") as file:
        return file.read()
