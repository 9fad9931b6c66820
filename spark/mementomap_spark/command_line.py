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
from .executable import BAD_INPUT, MementoMapError
from .generate import generate

#: Options of the executable; those with a value may be given several times.
_OPTIONS = {
    **{"format": "NAME", "status": "CODE", "mime": "TYPE", "from": "DATE", "to": "DATE", "exclude": "REGEX"},
    **{"preset": "NAME", "memory": "SIZE", "revisits": "RULE", "by": "FIELD", "id": "URL", "name": "TEXT"},
}
_FLAGS = ("distinct", "originals", "queries", "skip-bad")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mementomap-spark",
        description="Makes the parts of a map on a Spark cluster; mementomap merge joins them.",
        epilog="Options that are not explained here are those of mementomap generate.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    making = commands.add_parser("generate", help="make the parts of a map of an index", allow_abbrev=False)
    making.add_argument("-o", "--output", metavar="DIR", required=True, help="write the parts of the map here")
    making.add_argument("inputs", nargs="+", metavar="INPUT", help="a file, a folder or a glob, anywhere")
    making.add_argument("--split-size", type=_size, metavar="SIZE", help="bytes that one task reads")
    making.add_argument("--ranges", type=_count, metavar="N", help="how many tasks merge")
    making.add_argument("--executable", metavar="PATH", help="where mementomap is on all machines")
    making.add_argument("--force", action="store_true", help="replace outputs that are there")
    for name, value in _OPTIONS.items():
        making.add_argument(f"--{name}", metavar=value, action="append")
    for name in _FLAGS:
        making.add_argument(f"--{name}", action="store_true")
    return parser


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
    """Reads the command line."""
    options = _parser().parse_args(arguments)
    given = vars(options)
    pairs = [(f"--{name}", value) for name in _OPTIONS for value in given[name.replace("-", "_")] or ()]
    flags = [f"--{name}" for name in _FLAGS if given[name.replace("-", "_")]]
    options.read_options = [*(word for pair in pairs for word in pair), *flags]
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
        figures = generate(context, options)
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
