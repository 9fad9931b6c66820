"""`generate`: a map of an index, compacted and packed if that is wanted."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Sequence

from pyspark import RDD, SparkContext

from .executable import Executable, MementoMapError, scratch_folder
from .hadoop import Hadoop
from .inputs import find_inputs
from .outputs import publish, refuse_existing
from .pipeline import (
    MergeRange,
    RangeRecord,
    Runs,
    Work,
    change_ranges,
    choose_cuts,
    fetch_ranges,
    merge_ranges,
    read_runs,
)
from .run_files import parse_footer


def generate(context: SparkContext, options: Namespace) -> dict:
    """Makes the outputs that the options name; returns the figures of the run."""
    hadoop = Hadoop.of_driver(context)
    refuse_existing(hadoop, (options.output, options.pages, options.packed), options.force)
    parallelism = context.defaultParallelism
    inputs = find_inputs(hadoop, options.inputs, options.split_size, parallelism)
    date = os.environ.get("SOURCE_DATE_EPOCH", str(inputs.changed))
    executable = Executable(options.executable, {"SOURCE_DATE_EPOCH": date})
    threads = int(context.getConf().get("spark.task.cpus", "1"))
    work = Work(executable, ("partition", *options.read_options), hadoop.configuration_xml(), threads)
    with scratch_folder() as folder:
        _rehearse(executable, options, folder)
        runs = read_runs(context, inputs, work)
        _refuse_logs(runs)
        cuts = choose_cuts(runs, options.ranges, parallelism, executable, folder)
        weights = options.weight_options if options.is_compacted and not options.size_options else None
        parts = merge_ranges(runs, cuts, work, _combining(weights, threads))
        plan: Sequence[str] = ()
        shuffled = 0
        if options.size_options and not options.is_sized_on_driver:
            shuffled = _shuffled(parts)
            parts = _compact_by_plan(parts, options, work, folder, hadoop)
            plan = ("--plan", "plan.json")
        names, records = fetch_ranges(parts, folder, "part")
        _write_outputs(hadoop, options, executable, folder, [*plan, *names])
        read = [record.summary for record in runs.records]
        return {
            "files": inputs.files,
            "splits": len(inputs.shares),
            "lines": sum(summary["lines"] for summary in read),
            "captures": sum(summary["captures"] for summary in read),
            "bad": sum(summary["bad"] for summary in read),
            "ranges": len(names),
            "bytesRead": inputs.bytes,
            "bytesShuffled": shuffled + sum(record.shuffled for record in records),
        }


def _rehearse(executable: Executable, options: Namespace, folder: str) -> None:
    """Finds options that contradict each other before any work is done."""
    compacting = (*options.weight_options, *options.size_options)
    if not options.read_options and not compacting:
        return
    try:
        executable.run("partition", *options.read_options, "-o", "nothing.run", folder=folder)
        if compacting:
            executable.run("combine", "nothing.run", "-o", "nothing.ukvs", folder=folder)
            executable.run("compact", *compacting, "nothing.ukvs", "-o", "nothing-small.ukvs", folder=folder)
    except MementoMapError as error:
        # A share of the lines of nothing is less than any map has.
        codes = ["[MM_USAGE]"] if options.relative_cost else ["[MM_USAGE]", "[MM_BUDGET]"]
        if any(str(error).endswith(code) for code in codes):
            raise


def _refuse_logs(runs: Runs) -> None:
    """The same URI is in many logs of an aggregator, and its mementos must not be added up."""
    if len(runs.records) == 1:
        return
    for record in runs.records:
        said = parse_footer(record.footer)
        if said["description"].get("isSample") and not said["keys"]["distinct"]:
            raise MementoMapError("logs of aggregators cannot be read in splits; use mementomap generate [MM_USAGE]")


def _combining(weights: Sequence[str] | None, threads: int) -> MergeRange:
    def combine(executable: Executable, folder: str, number: int, runs: Sequence[str]) -> str:
        place = ("--cuts", "cuts.txt", "--range", number, "--tmp", folder)
        executable.run("combine", *place, *runs, "-o", "part.ukvs", folder=folder)
        for run in runs:
            os.remove(os.path.join(folder, run))
        if weights is None:
            return "part.ukvs"
        small = ("--threads", threads, "--tmp", folder, "part.ukvs", "-o", "small.ukvs")
        executable.run("compact", *weights, *small, folder=folder)
        return "small.ukvs"

    return combine


def _shuffled(parts: RDD) -> int:
    records = parts.filter(lambda record: isinstance(record, RangeRecord)).collect()
    return sum(record.shuffled for record in records)


def _compact_by_plan(parts: RDD, options: Namespace, work: Work, folder: str, hadoop: Hadoop) -> RDD:
    """Surveys all parts, searches the price of a row on the driver, and compacts each part by the plan."""
    executable, threads = work.executable, work.threads
    given = _misses(hadoop, options, folder)
    misses = None
    if given:
        with open(os.path.join(folder, "misses"), "rb") as file:
            misses = parts.context.broadcast(file.read())

    def survey(own: str, part: str) -> str:
        if misses is not None:
            _write(os.path.join(own, "misses"), misses.value)
        executable.run("compact", "--survey", *given, "--tmp", own, part, "-o", "survey", folder=own)
        return "survey"

    surveys, _ = fetch_ranges(change_ranges(parts, survey), folder, "survey")
    sizes = [*options.size_options, *given, *options.plan_options]
    executable.run("combine", *sizes, "--tmp", folder, *surveys, "-o", "plan.json", folder=folder)
    for name in surveys:
        os.remove(os.path.join(folder, name))
    with open(os.path.join(folder, "plan.json"), "rb") as file:
        plan = parts.context.broadcast(file.read())

    def compact(own: str, part: str) -> str:
        _write(os.path.join(own, "plan.json"), plan.value)
        arguments = ("--plan", "plan.json", "--threads", threads, "--tmp", own, part, "-o", "small.ukvs")
        executable.run("compact", *arguments, folder=own)
        return "small.ukvs"

    return change_ranges(parts, compact)


def _write_outputs(
    hadoop: Hadoop, options: Namespace, executable: Executable, folder: str, joining: Sequence[str]
) -> None:
    """Joins the parts on the driver, and makes of the map what has to be made of the whole."""
    force = ("--force",) if options.force else ()

    def run(*arguments: object) -> None:
        executable.run(*arguments, "--tmp", folder, folder=folder)

    def make_map(path: str) -> None:
        if not options.is_sized_on_driver:
            run("combine", *force, *joining, "-o", path)
            return
        misses = _misses(hadoop, options, folder)
        run("combine", "--force", *joining, "-o", "whole.ukvs")
        run("compact", *force, *options.size_options, *misses, *options.plan_options, "whole.ukvs", "-o", path)

    def make_packed(path: str) -> None:
        make_map(os.path.join(folder, "map.ukvs"))
        run("pack", *force, *options.pack_options, "map.ukvs", "-o", path)

    def make_pages(path: str) -> None:
        run("combine", *force, "--pages", *joining, "-o", path)

    for path, make in ((options.output, make_map), (options.packed, make_packed), (options.pages, make_pages)):
        if path is not None:
            publish(hadoop, path, options.force, make)


def _misses(hadoop: Hadoop, options: Namespace, folder: str) -> Sequence[str]:
    """The options for lookups that missed, with a local copy of them."""
    if options.misses is None:
        return ()
    found = hadoop.find(options.misses)
    if not found:
        raise MementoMapError(f"{options.misses}: there is no such file [MM_IO]")
    _write(os.path.join(folder, "misses"), hadoop.read(found[0].path, 0, found[0].size))
    return ("--misses", "misses", *options.misses_options)


def _write(path: str, content: bytes) -> None:
    with open(path, "wb") as file:
        file.write(content)
