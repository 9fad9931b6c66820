"""Files and folders become shares: what one task reads."""

from __future__ import annotations

import gzip
import json
import os
import re
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .executable import MementoMapError
from .hadoop import FileStatus, Hadoop

MEBIBYTE = 2**20
#: What a share has at least, unless it is told otherwise: starting a process takes as long as reading it.
LEAST_SHARE = 128 * MEBIBYTE
#: What it has at most; a task keeps as much on its disk. There are more in very large inputs, see MOST_SHARES.
LARGEST_SHARE = 2048 * MEBIBYTE
#: Every range is merged from as many runs.
MOST_SHARES = 20_000
#: How much smaller an index is when it is compressed, roughly.
COMPRESSION = 8

#: What a folder is searched for, as by `mementomap generate`.
_CLUSTER = re.compile(r"\.idx(\.gz|\.zst)?$")
_INDEX = re.compile(r"\.(cdxj?|parquet)(\.gz|\.zst)?$")
_RECORDS = re.compile(r"\.w?arc(\.gz|\.zst)?$|\.wacz$")
#: Files that begin so are read whole: gzip, zstd, ZIP (WACZ), Parquet, WARC, ARC, JSON.
_WHOLE = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"PAR1", b"WARC/", b"filedesc:", b"[", b"{")


@dataclass(frozen=True)
class Share:
    """What one task reads: some whole files, or a part of one."""

    files: tuple[FileStatus, ...]
    #: The lines that begin in these bytes of the one file, or the gzip members there.
    split: tuple[int, int] | None = None
    is_compressed: bool = False


@dataclass(frozen=True)
class Inputs:
    shares: tuple[Share, ...]
    files: int
    bytes: int
    #: When the index last changed, as `mementomap generate` has it.
    changed: int


def find_inputs(hadoop: Hadoop, paths: Sequence[str], share_bytes: int | None, parallelism: int) -> Inputs:
    """What to read. Lists folders, and reads the indexes of ZipNum clusters."""
    files: list[FileStatus] = []
    clusters: list[FileStatus] = []
    changed = 0
    for path in paths:
        found = hadoop.find(path)
        if not found:
            raise MementoMapError(f"{path}: there is no such file [MM_IO]")
        for one in found:
            members = hadoop.list(one.path) if one.is_folder else []
            changed = max(changed, one.changed, *(member.changed for member in members if not member.is_folder))
            for file in _files_to_read(one.path, members) if one.is_folder else [one]:
                (clusters if _CLUSTER.search(file.path) else files).append(file)
    _refuse_twice([*files, *clusters])
    blocks = [parts for cluster in clusters for parts in _cluster_parts(hadoop, cluster)]
    whole = sum(file.size for file in files) + COMPRESSION * sum(file.size for file, _ in blocks)
    size = share_bytes or _share_bytes(whole, parallelism)
    shares = [*_plain_shares(hadoop, files, size), *_block_shares(blocks, max(1, size // COMPRESSION))]
    stored = sum(file.size for file in files) + sum(file.size for file, _ in blocks)
    return Inputs(tuple(shares), len(files) + len(blocks), stored, changed)


def _share_bytes(whole: int, parallelism: int) -> int:
    even = whole // max(1, 3 * parallelism)
    return max(min(max(even, LEAST_SHARE), LARGEST_SHARE), -(-whole // MOST_SHARES))


def _files_to_read(folder: str, members: Iterable[FileStatus]) -> list[FileStatus]:
    files = [member for member in members if not member.is_folder]
    clusters, indexes, records = (
        [file for file in files if kind.search(file.path)] for kind in (_CLUSTER, _INDEX, _RECORDS)
    )
    if clusters:
        return clusters
    if indexes and records:
        one, other = (os.path.basename(kind[0].path) for kind in (indexes, records))
        raise MementoMapError(
            f"{folder}: {one} and {other} may tell of the same captures, and would count twice; "
            "name the files that are to be read [MM_BAD_INPUT]"
        )
    if not indexes and not records:
        raise MementoMapError(
            f"{folder}: this folder holds no index: no .idx, .cdx, .cdxj, .parquet, .warc, .arc or .wacz file "
            "[MM_BAD_INPUT]"
        )
    return indexes or records


def _refuse_twice(files: Iterable[FileStatus]) -> None:
    known: dict[str, str] = {}
    for file in files:
        plain = re.sub(r"\.(gz|zst)$", "", file.path)
        if plain in known:
            other = known[plain]
            what = "is given twice" if other == file.path else f"and {other} look like one file, compressed and not"
            raise MementoMapError(f"{file.path} {what}, which would count twice; name it once [MM_USAGE]")
        known[plain] = file.path


def _plain_shares(hadoop: Hadoop, files: Iterable[FileStatus], size: int) -> Iterable[Share]:
    """Large files of lines are cut, others are read whole, several small ones by one task."""
    group: list[FileStatus] = []
    for file in files:
        if file.size > size and not hadoop.read(file.path, 0, 16).startswith(_WHOLE):
            pieces = -(-file.size // size)
            edges = [file.size * i // pieces for i in range(pieces + 1)]
            yield from (Share((file,), split) for split in zip(edges, edges[1:]))
            continue
        if group and sum(one.size for one in group) + file.size > size:
            yield Share(tuple(group))
            group = []
        group.append(file)
    if group:
        yield Share(tuple(group))


#: A part of a ZipNum cluster, and where its blocks begin and end.
ClusterPart = tuple[FileStatus, list[int]]


def _block_shares(parts: Iterable[ClusterPart], size: int) -> Iterable[Share]:
    for file, edges in parts:
        start = edges[0]
        for edge in edges[1:]:
            if edge - start >= size or edge == edges[-1]:
                yield Share((file,), (start, edge), is_compressed=True)
                start = edge


def _cluster_parts(hadoop: Hadoop, cluster: FileStatus) -> list[ClusterPart]:
    """Reads the index of a ZipNum cluster; its files are beside it."""
    folder, _, name = cluster.path.rpartition("/")
    stem = _CLUSTER.sub("", name)
    found: dict[str, list[tuple[int, int]]] = {}
    with tempfile.NamedTemporaryFile(prefix="mementomap-") as local:
        hadoop.copy(cluster.path, 0, cluster.size, local.name, at=0)
        with (gzip.open if name.endswith(".gz") else open)(
            local.name, "rt", encoding="utf-8", errors="replace"
        ) as lines:
            default = stem
            for number, line in enumerate(lines, 1):
                try:
                    block = _block(line)
                except (ValueError, KeyError) as error:
                    where = f"{cluster.path}:{number}"
                    raise MementoMapError(
                        f"{where}: not a line of a ZipNum index: {json.dumps(line.rstrip())} [MM_BAD_LINE]"
                    ) from error
                if isinstance(block, str):
                    default = block
                elif block is not None:
                    part, offset, length = block
                    found.setdefault(part or default, []).append((offset, length))
    beside = {os.path.basename(file.path): file for file in hadoop.list(folder)}
    return [_checked(cluster, _beside(cluster, beside, part), blocks) for part, blocks in found.items()]


def _block(line: str) -> tuple[str, int, int] | str | None:
    """The file, offset and length of a block; the name of the file that a header gives to all."""
    text = line.rstrip("\r\n")
    if not text.strip():
        return None
    columns = text.split("\t")
    if len(columns) >= 4:
        return columns[1], int(columns[2]), int(columns[3])
    brace = text.index("{") if "{" in text else len(text)
    if text.startswith("!"):
        return json.loads(text[brace:]).get("filename") if text.startswith("!meta") else None
    entry = json.loads(text[brace:])
    return entry.get("filename", ""), int(entry["offset"]), int(entry["length"])


def _beside(cluster: FileStatus, files: dict[str, FileStatus], part: str) -> FileStatus:
    for ending in ("", ".cdx.gz", ".cdxj.gz", ".gz"):
        file = files.get(os.path.basename(part) + ending)
        if file is not None:
            return file
    raise MementoMapError(f"{cluster.path}: there is no file for its part {json.dumps(part)} beside it [MM_IO]")


def _checked(cluster: FileStatus, file: FileStatus, blocks: list[tuple[int, int]]) -> ClusterPart:
    """Every block begins where the one before it ends, and the last ends with the file."""
    edges = [0]
    for offset, length in sorted(blocks):
        if offset == edges[-1]:
            edges.append(offset + length)
    if len(edges) == len(blocks) + 1 and edges[-1] == file.size:
        return file, edges
    raise MementoMapError(
        f"{cluster.path}: the index does not fit the data: its blocks do not make up the {file.size} bytes of "
        f"{file.path}; make the index again [MM_BAD_INPUT]"
    )
