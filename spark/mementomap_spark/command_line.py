"""The command line: options of our own, and those that go to the executable as they are."""

from __future__ import annotations

import argparse
import atexit
import json
import os
import re
import shutil
import sys
import tempfile
import time
import zipfile
from collections.abc import Sequence

from py4j.protocol import Py4JJavaError
from pyspark import SparkConf, SparkContext

from . import __version__
from .analyze import analyze
from .executable import BAD_INPUT, MementoMapError
from .generate import generate

#: Options of the executable; those with a value may be given several times.
_FILTERS = {"format": "NAME", "status": "CODE", "mime": "TYPE", "from": "DATE", "to": "DATE", "exclude": "REGEX"}
_READ = {**_FILTERS, "preset": "NAME", "memory": "SIZE"}
_COUNT = {"revisits": "RULE", "by": "FIELD", "keys": "FROM", "id": "URL", "name": "TEXT"}
_COUNT_FLAGS = ("distinct", "originals", "queries", "skip-bad")
_WEIGHTS = {"host-weight": "W", "path-weight": "W", "host-power": "A,K", "path-power": "A,K"}
_DEPTHS = {"max-host-depth": "N", "max-path-depth": "N"}
_SIZES = {"max-lines": "N", "relative-cost": "SHARE", "max-bytes": "SIZE"}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mementomap-spark",
        description="Makes on a Spark cluster, byte for byte, what mementomap makes on one machine.",
        epilog="Options that are not explained here are those of mementomap generate, compact and analyze.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    making = commands.add_parser("generate", help="make a map of an index", allow_abbrev=False)
    making.add_argument("-o", "--output", metavar="MAP", help="write the map here; .gz compresses")
    making.add_argument("--pages", metavar="DIR", help="write the map as a folder of pages, one for each range")
    making.add_argument("--packed", metavar="FILE", help="write the packed map here")
    making.add_argument("--packed-bytes", metavar="SIZE", help="how large the packed map may be")
    making.add_argument("--packed-years", action="store_true", help="keep the years of hosts in it; needs --by")
    making.add_argument("--compact", action="store_true", help="compact by weights, those of the paper by default")
    making.add_argument("--misses", metavar="FILE", help="lookups that missed, for a map of a given size")
    making.add_argument("--misses-archive", metavar="ID", help="whose misses to take from a log")
    making.add_argument("--no-exclusions", action="store_true")
    _add(making, _COUNT, _COUNT_FLAGS)
    _add(making, {**_WEIGHTS, **_DEPTHS, **_SIZES})

    telling = commands.add_parser("analyze", help="tell what an archive holds", allow_abbrev=False)
    telling.add_argument("-o", "--output", metavar="FILE", help="write the tables here")
    telling.add_argument("--html", metavar="FILE", help="write the report here")
    telling.add_argument("--json", action="store_true", help="write the tables as JSON")
    telling.add_argument("--title", metavar="TEXT", help="the archive's name, for the report")
    _add(telling, {"top": "N", "samples": "N"})

    for command in (making, telling):
        command.add_argument("inputs", nargs="+", metavar="INPUT", help="a file, a folder or a glob, anywhere")
        command.add_argument("--split-size", type=_size, metavar="SIZE", help="bytes that one task reads")
        command.add_argument("--ranges", type=_count, metavar="N", help="how many tasks merge")
        command.add_argument("--executable", metavar="PATH", help="where mementomap is on all machines")
        command.add_argument("--force", action="store_true", help="replace outputs that are there")
        _add(command, _READ)
    return parser


def _add(parser: argparse.ArgumentParser, options: dict[str, str], flags: Sequence[str] = ()) -> None:
    for name, value in options.items():
        parser.add_argument(f"--{name}", metavar=value, action="append")
    for name in flags:
        parser.add_argument(f"--{name}", action="store_true")


def _given(options: argparse.Namespace, names: Sequence[str], flags: Sequence[str] = ()) -> list[str]:
    """The arguments for the executable that these options are."""
    arguments: list[str] = []
    for name in names:
        for value in getattr(options, name.replace("-", "_")) or ():
            arguments += [f"--{name}", value]
    return [*arguments, *(f"--{name}" for name in flags if getattr(options, name.replace("-", "_")))]


def _size(text: str) -> int:
    match = re.fullmatch(r"(\d+)([kmgt]?)", text.lower())
    if match is None or int(match[1]) == 0:
        raise argparse.ArgumentTypeError(f"not a size: {text!r}; write 512m")
    return int(match[1]) * 1024 ** " kmgt".index(match[2] or " ")


def _count(text: str) -> int:
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"not a number of ranges: {text!r}")
    return int(text)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Reads the command line; options for the executable are grouped by the step they are for."""
    parser = _parser()
    options = parser.parse_args(arguments)
    options.read_options = _given(options, list(_READ))
    if options.command == "analyze":
        options.table_options = _given(options, ("top", "samples"))
        if options.output is None and options.html is None:
            parser.error("say where to write: --output or --html")
        return options
    if options.output is None and options.pages is None and options.packed is None:
        parser.error("say where to write: --output, --pages or --packed")
    options.read_options += _given(options, list(_COUNT), _COUNT_FLAGS)
    options.weight_options = _given(options, [*_WEIGHTS, *_DEPTHS])
    options.size_options = _given(options, list(_SIZES))
    options.plan_options = _given(options, (), ("no-exclusions",))
    options.misses_options = [] if options.misses_archive is None else ["--archive", options.misses_archive]
    options.pack_options = [] if options.packed_bytes is None else ["--max-bytes", options.packed_bytes]
    if options.packed_years:
        if options.packed is None or not options.by:
            parser.error("--packed-years is for --packed, of a map with times: --by datetime:year")
        options.pack_options += ["--years"]
    if len(options.size_options) > 2:
        parser.error("give one size: --max-lines, --relative-cost or --max-bytes")
    if options.size_options and (options.weight_options or options.compact):
        parser.error("a size and weights exclude each other")
    if options.misses is not None and not options.size_options:
        parser.error("--misses is for a map of a given size")
    options.is_compacted = bool(options.size_options or options.weight_options or options.compact)
    # Plans of parts are of lines, and of maps of keys alone.
    options.is_sized_on_driver = bool(options.size_options) and bool(options.max_bytes or options.queries or options.by)
    if options.is_sized_on_driver and options.pages is not None:
        parser.error("--max-bytes, and sizes with --queries or --by, make one file; use mementomap split")
    return options


def _ship(context: SparkContext) -> None:
    """Sends this package to workers, unless spark-submit did."""
    package = os.path.dirname(os.path.abspath(__file__))
    if not os.path.isdir(package):
        return
    folder = tempfile.mkdtemp(prefix="mementomap-")
    # Workers may fetch it as long as the application runs.
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    archive = os.path.join(folder, "mementomap_spark.zip")
    with zipfile.ZipFile(archive, "w") as file:
        for name in sorted(os.listdir(package)):
            if name.endswith(".py"):
                file.write(os.path.join(package, name), f"mementomap_spark/{name}")
    context.addPyFile(archive)


def _task_error(error: Py4JJavaError) -> str | None:
    """What a task said is wrong with the input."""
    match = re.search(r"MementoMapError: (.*?)\n", str(error.java_exception))
    return None if match is None else match[1]


def run(context: SparkContext, options: argparse.Namespace) -> int:
    """Does what the options say; returns the exit status."""
    started = time.monotonic()
    try:
        figures = (analyze if options.command == "analyze" else generate)(context, options)
    except MementoMapError as error:
        return _fail(str(error))
    except Py4JJavaError as error:
        message = _task_error(error)
        if message is None:
            raise
        return _fail(message)
    print(json.dumps({**figures, "seconds": round(time.monotonic() - started, 3)}), file=sys.stderr)
    return 0


def _fail(message: str) -> int:
    print(f"mementomap: {message}", file=sys.stderr)
    return BAD_INPUT


def start(command: str) -> SparkContext:
    context = SparkContext.getOrCreate(SparkConf().setIfMissing("spark.app.name", f"mementomap {command}"))
    _ship(context)
    return context


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    context = start(options.command)
    try:
        return run(context, options)
    finally:
        context.stop()
