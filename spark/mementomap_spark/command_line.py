"""The command line: our own options, and those passed through to the executable."""

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
from collections.abc import Sequence

from py4j.protocol import Py4JJavaError
from pyspark import SparkConf, SparkContext

from . import __version__
from .executable import BAD_INPUT, MementoMapError
from .generate import generate

#: Options of the executable; those with a value may be repeated.
_OPTIONS = {
    **{"format": "NAME", "status": "CODE", "mime": "TYPE", "from": "DATE", "to": "DATE", "exclude": "REGEX"},
    **{"preset": "NAME", "memory": "SIZE", "revisits": "RULE", "by": "FIELD", "id": "URL", "name": "TEXT"},
}
_FLAGS = ("distinct", "originals", "queries", "skip-bad")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mementomap-spark",
        description="Creates the parts of a map on a Spark cluster; mementomap merge joins them.",
        epilog="All other options are those of mementomap generate.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    making = commands.add_parser("generate", help="create the parts of the map of an index", allow_abbrev=False)
    making.add_argument("-o", "--output", metavar="DIR", required=True, help="write the parts of the map here")
    making.add_argument("inputs", nargs="+", metavar="INPUT", help="a file, a folder or a glob")
    making.add_argument("--split-size", type=_size, metavar="SIZE", help="bytes that one task reads")
    making.add_argument("--ranges", type=int, metavar="N", help="number of merge tasks")
    making.add_argument("--executable", metavar="PATH", help="path of mementomap on all machines")
    making.add_argument("--force", action="store_true", help="replace existing output")
    for name, value in _OPTIONS.items():
        making.add_argument(f"--{name}", metavar=value, action="append")
    for name in _FLAGS:
        making.add_argument(f"--{name}", action="store_true")
    return parser


def _size(text: str) -> int:
    match = re.fullmatch(r"(\d+)([kmgt]?)", text.lower())
    if match is None or int(match[1]) == 0:
        raise argparse.ArgumentTypeError(f"not a size: {text!r}; expected a size such as 512m")
    return int(match[1]) * 1024 ** " kmgt".index(match[2] or " ")


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Reads the command line."""
    options = _parser().parse_args(arguments)
    given = vars(options)
    pairs = [(f"--{name}", value) for name in _OPTIONS for value in given[name.replace("-", "_")] or ()]
    flags = [f"--{name}" for name in _FLAGS if given[name.replace("-", "_")]]
    options.read_options = [*(word for pair in pairs for word in pair), *flags]
    return options


def start(command: str) -> SparkContext:
    """Starts the application; ships this package to the workers unless spark-submit did."""
    context = SparkContext.getOrCreate(SparkConf().setIfMissing("spark.app.name", f"mementomap {command}"))
    package = os.path.dirname(os.path.abspath(__file__))
    if os.path.isdir(package):
        folder = tempfile.mkdtemp(prefix="mementomap-")
        # Workers may fetch it until the application ends.
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        source, name = os.path.split(package)
        context.addPyFile(shutil.make_archive(os.path.join(folder, name), "zip", source, name))
    return context


def run(context: SparkContext, options: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    started = time.monotonic()
    try:
        figures = generate(context, options)
    except (MementoMapError, Py4JJavaError) as error:
        text = str(error.java_exception if isinstance(error, Py4JJavaError) else f"MementoMapError: {error}\n")
        # The error of a task is embedded in the Java exception.
        fault = re.search(r"MementoMapError: (.*?)\n", text)
        if fault is None:
            raise
        print(f"mementomap: {fault[1]}", file=sys.stderr)
        return BAD_INPUT
    print(json.dumps({**figures, "seconds": round(time.monotonic() - started, 3)}), file=sys.stderr)
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    context = start(options.command)
    try:
        return run(context, options)
    finally:
        context.stop()
