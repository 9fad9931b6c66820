"""Divides files and folders into shares, one per task."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .executable import MementoMapError
from .hadoop import FileStatus, Hadoop

MEBIBYTE = 2**20
#: Default minimum size of a share: starting a process takes as long as reading it.
MIN_SHARE = 128 * MEBIBYTE
#: Maximum size, which a task needs on its disk. Exceeded for very large inputs, see MAX_SHARES.
MAX_SHARE = 2048 * MEBIBYTE
#: Maximum number of runs to merge for each range.
MAX_SHARES = 20_000
#: Enough for the first lines of a file, which name its columns.
HEAD_BYTES = 2**16

#: Files to look for in folders. The parts of a ZipNum cluster are gzip files; its index is not needed.
_CLUSTER = re.compile(r"\.idx(\.gz|\.zst)?$")
_PART = re.compile(r"\.gz$")
#: Files of different kinds may hold the same captures: indexes, records, and both in one.
_KINDS = [re.compile(kind) for kind in (r"\.(cdxj?|parquet)(\.gz|\.zst)?$", r"\.w?arc(\.gz|\.zst)?$", r"\.wacz$")]
#: Magic bytes of files that cannot be split: gzip, zstd, ZIP (WACZ), Parquet, WARC, ARC, JSON.
_WHOLE = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"PAR1", b"WARC/", b"filedesc:", b"[", b"{")


@dataclass(frozen=True)
class Share:
    """The input of one task: some whole files, or the lines of one that begin in a byte range."""

    files: tuple[FileStatus, ...]
    split: tuple[int, int] | None = None
    #: The header lines of a split file, to prepend to its other splits.
    header: bytes = b""


@dataclass(frozen=True)
class Inputs:
    shares: tuple[Share, ...]
    files: int
    bytes: int
    #: Modification time of the index, as in `mementomap generate`.
    changed: int


def find_inputs(hadoop: Hadoop, paths: Sequence[str], share_bytes: int | None, parallelism: int) -> Inputs:
    """Finds the files to read and divides them into shares. Lists folders."""
    files: list[FileStatus] = []
    changed = 0
    for path in paths:
        found = hadoop.find(path)
        if not found:
            raise MementoMapError(f"{path}: no such file [MM_IO]")
        for one in found:
            members = [file for file in hadoop.list(one.path) if not file.is_folder] if one.is_folder else []
            changed = max(changed, one.changed, *(member.changed for member in members))
            files += _files_to_read(one.path, members) if one.is_folder else [one]
            if not one.is_folder and _CLUSTER.search(one.path):
                raise MementoMapError(f"{one.path}: this is the index of a ZipNum cluster; pass its folder [MM_USAGE]")
    _refuse_twice(files)
    stored = sum(file.size for file in files)
    size = share_bytes or max(
        min(max(stored // max(1, 3 * parallelism), MIN_SHARE), MAX_SHARE), -(-stored // MAX_SHARES)
    )
    return Inputs(tuple(_shares(hadoop, files, size)), len(files), stored, changed)


def _files_to_read(folder: str, files: Sequence[FileStatus]) -> list[FileStatus]:
    if any(_CLUSTER.search(file.path) for file in files):
        return [file for file in files if _PART.search(file.path) and not _CLUSTER.search(file.path)]
    known = [file for file in files if any(kind.search(file.path) for kind in _KINDS)]
    if not known:
        raise MementoMapError(
            f"{folder}: no index in this folder: no .idx, .cdx, .cdxj, .parquet, .warc, .arc or .wacz file "
            "[MM_BAD_INPUT]"
        )
    return known


def _refuse_twice(files: Sequence[FileStatus]) -> None:
    """Rejects files that may be counted twice."""
    known: dict[str, str] = {}
    for file in files:
        plain = re.sub(r"\.(gz|zst)$", "", file.path)
        if plain in known:
            other = known[plain]
            what = "is a duplicate" if other == file.path else f"and {other} look like copies of one file"
            raise MementoMapError(f"{file.path} {what}, which would be counted twice; pass it once [MM_USAGE]")
        known[plain] = file.path
    firsts = [next((file.path for file in files if kind.search(file.path)), None) for kind in _KINDS]
    one, *others = [path for path in firsts if path is not None] or [None]
    if others:
        raise MementoMapError(
            f"{one} and {others[0]} may hold the same captures, which would be counted twice; pass only one of "
            "them, or merge separate maps [MM_USAGE]"
        )


def _shares(hadoop: Hadoop, files: Iterable[FileStatus], size: int) -> Iterable[Share]:
    """Splits large line-based files; other files are read whole, and small ones grouped."""
    group: list[FileStatus] = []
    for file in files:
        head = hadoop.read(file.path, 0, HEAD_BYTES) if file.size > size else b""
        if head and not head.startswith(_WHOLE):
            pieces = -(-file.size // size)
            edges = [file.size * i // pieces for i in range(pieces + 1)]
            header = _header(head)
            yield from (Share((file,), split, header if split[0] > 0 else b"") for split in zip(edges, edges[1:]))
            continue
        if group and sum(one.size for one in group) + file.size > size:
            yield Share(tuple(group))
            group = []
        group.append(file)
    if group:
        yield Share(tuple(group))


def _header(head: bytes) -> bytes:
    """The header lines at the start of an index: ` CDX N b a`, `!meta {…}`."""
    lines = head[: head.rfind(b"\n") + 1].splitlines(keepends=True)
    is_row = [bool(line.strip()) and not re.match(rb"[!@]|\W?CDX\W", line) for line in lines]
    return b"".join(lines[: is_row.index(True)] if True in is_row else lines)
