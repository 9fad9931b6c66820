"""The tasks: convert a share of the index to a run, and merge a key range of all runs into a part of the map.

Runs and parts are files on the output file system. Nothing is shuffled: a merge task reads the blocks of the runs that
overlap its range. Tasks are deterministic, so they can be retried anywhere.
"""

from __future__ import annotations

import json
import os
from base64 import b64decode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .executable import Executable, scratch_folder
from .hadoop import Hadoop, hadoop_of_task, local_path
from .inputs import Share

_MAGIC = b"\x89MMR\r\n\x1a\n"
_TAIL = 8 + len(_MAGIC)
_CHUNK_BYTES = 2**22
#: Bytes read beyond the end of a split, for the rest of its last line; the limit on lines.
_LINE_BYTES = 2**20 + 2


@dataclass(frozen=True)
class Work:
    """Parameters of tasks; sent to each."""

    executable: Executable
    #: The options of `partition`.
    options: Sequence[str]
    #: The configuration of Hadoop.
    configuration_xml: str
    threads: int
    #: Where runs and parts are written.
    folder: str


@dataclass(frozen=True)
class Run:
    """A run on the output file system, with its summary and footer (see src/generate/run-file.ts)."""

    path: str
    size: int
    summary: dict
    footer: dict


def read_share(work: Work, number: int, share: Share) -> Run:
    """Reads a share into a run."""
    hadoop = hadoop_of_task(work.configuration_xml)
    with scratch_folder() as folder:
        command = ("partition", *work.options, "--threads", work.threads, "-o", "run", "--tmp", folder)
        if share.split is None:
            paths = [_local_copy(hadoop, folder, i, file.path, file.size) for i, file in enumerate(share.files)]
            names = {path: file.path for path, file in zip(paths, share.files)}
            summary = work.executable.run(*command, *paths, folder=folder, names=names)
        else:
            source = f"{share.files[0].path} (from byte {share.split[0]})"
            lines = _lines(hadoop, share, os.path.join(folder, "lines"))
            summary = work.executable.run(*command, "--source", source, "-", folder=folder, lines=lines)
            summary["lines"] -= share.header.count(b"\n")
        made = os.path.join(folder, "run")
        path = f"{work.folder}/runs/{number}.run"
        hadoop.upload(made, path)
        return Run(path, os.path.getsize(made), summary, _footer_of(made))


def _local_copy(hadoop: Hadoop, folder: str, number: int, path: str, size: int) -> str:
    local = local_path(path)
    if local is not None:
        return local
    own = os.path.join(folder, f"input-{number}")
    os.mkdir(own)
    copy = os.path.join(own, os.path.basename(path))
    hadoop.copy(path, 0, size, copy)
    return copy


def _lines(hadoop: Hadoop, share: Share, copy: str) -> Iterator[bytes]:
    """The header of the file, and the lines that begin in the split."""
    [file], (start, end) = share.files, share.split
    yield share.header
    at = max(0, start - 1)
    local, base = local_path(file.path), 0
    if local is None:
        local, base = copy, at
        hadoop.copy(file.path, at, min(end + _LINE_BYTES, file.size), copy)
    with open(local, "rb") as lines:
        lines.seek(at - base)
        # Bytes before the first line end belong to the previous split.
        at += len(lines.readline()) if start > 0 else 0
        while at < end:
            chunk = lines.read(min(_CHUNK_BYTES, end - at))
            at += len(chunk)
            yield chunk
            if at == end and not chunk.endswith(b"\n"):
                yield lines.readline()


def _footer_of(path: str) -> dict:
    with open(path, "rb") as file:
        file.seek(-_TAIL, os.SEEK_END)
        length = int.from_bytes(file.read(8), "little")
        file.seek(-_TAIL - length, os.SEEK_END)
        return json.loads(file.read(length))


def write_slice(hadoop: Hadoop, run: Run, start: bytes, end: bytes | None, path: str) -> None:
    """Writes the blocks of a run that may have keys from `start` up to `end`, as a run that may be empty.

    Even an empty run has the description of the map.
    """
    blocks = run.footer["run"]["blocks"]
    keys = [b64decode(key) for _, key, _ in blocks]
    first = max(0, sum(key <= start for key in keys) - 1)
    last = len(keys) if end is None else sum(key < end for key in keys)
    whole = run.footer["run"]
    places = [(at, before) for at, _, before in blocks] + [(whole["byteLength"], whole["keys"])]
    (offset, before), (stop, after) = places[min(first, last)], places[last]
    index = {"byteLength": stop - offset, "keys": after - before}
    index["blocks"] = [[at - offset, key, count - before] for at, key, count in blocks[first:last]]
    if stop > offset:
        hadoop.copy(run.path, len(_MAGIC) + offset, len(_MAGIC) + stop, path, at=len(_MAGIC))
    write_footer(path, {**run.footer, "run": index})


def write_footer(path: str, footer: dict) -> None:
    """Completes a run, whose keys may already be in the file."""
    text = json.dumps(footer).encode()
    with open(path, "r+b" if os.path.exists(path) else "wb") as file:
        file.write(_MAGIC)
        file.seek(0, os.SEEK_END)
        file.write(text + len(text).to_bytes(8, "little") + _MAGIC)


def merge_range(work: Work, number: int, cuts: bytes, runs: Sequence[Run]) -> tuple[int, int]:
    """Merges a range of all runs into a part of the map; returns its number of rows, and of bytes merged."""
    hadoop = hadoop_of_task(work.configuration_xml)
    edges = [b"", *cuts.split(b"\n")[:-1], None]
    with scratch_folder() as folder:
        slices = [f"{i}.run" for i in range(len(runs))]
        for name, run in zip(slices, runs):
            write_slice(hadoop, run, edges[number - 1], edges[number], os.path.join(folder, name))
        with open(os.path.join(folder, "cuts.txt"), "wb") as file:
            file.write(cuts)
        place = ("--cuts", "cuts.txt", "--range", number) if cuts else ()
        summary = work.executable.run("combine", *place, "--tmp", folder, *slices, "-o", "part.ukvs", folder=folder)
        hadoop.upload(os.path.join(folder, "part.ukvs"), f"{work.folder}/map/part-{number:05}.ukvs")
        merged = sum(os.path.getsize(os.path.join(folder, name)) for name in slices)
        return summary.get("rows", 0), merged
