"""What the commands share: splits are read into runs, runs are cut into ranges, and ranges are merged.

Files travel as records of some mebibytes. Only runs are shuffled; each has the keys of a split, sorted and counted.
Tasks keep nothing: a task that is done again, anywhere, gives the same bytes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from pyspark import RDD, SparkContext, StorageLevel

from .executable import Executable, MementoMapError, scratch_folder
from .inputs import Inputs, Share
from .local_copy import copy_share, fill_in
from .run_files import BLOCKS_PER_RANGE, footer_of, parse_footer, without_keys

_CHUNK_BYTES = 8 * 2**20
#: Bytes of runs that make a range, unless it is told otherwise.
_RANGE_BYTES = 32 * 2**20

#: Bytes of a file: their offset, and the bytes.
Chunk = tuple[int, bytes]


@dataclass(frozen=True)
class Work:
    """What tasks need to know; sent to each."""

    executable: Executable
    #: The command that reads a split into a run, with its options.
    read: Sequence[str]
    #: The configuration of Hadoop.
    configuration_xml: str
    threads: int


@dataclass(frozen=True)
class RunRecord:
    """What is known of a run."""

    number: int
    summary: dict
    footer: bytes
    bytes: int


@dataclass(frozen=True)
class RangeRecord:
    """What is known of a range: how much was merged, and how much that gave."""

    shuffled: int
    bytes: int


def chunks_of(path: str) -> Iterator[Chunk]:
    offset = 0
    with open(path, "rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            yield offset, chunk
            offset += len(chunk)


def write_chunk(path: str, chunk: Chunk) -> None:
    """Puts bytes in their place, in whatever order they come."""
    offset, content = chunk
    with open(path, "r+b" if os.path.exists(path) else "wb") as file:
        file.seek(offset)
        file.write(content)


class Runs:
    """The runs of all shares, kept on the disks of the executors until they are merged."""

    def __init__(self, context: SparkContext, shares: Sequence[Share], work: Work, rekeyed: frozenset[str]):
        numbered = list(enumerate(shares))
        read = context.parallelize(numbered, len(numbered)).mapPartitions(_reading(work, rekeyed))
        self._rdd = read.persist(StorageLevel.DISK_ONLY)
        self.records: list[RunRecord] = sorted(
            self._rdd.filter(lambda record: isinstance(record, RunRecord)).collect(), key=lambda record: record.number
        )

    @property
    def bytes(self) -> int:
        return sum(record.bytes for record in self.records)

    def chunks(self) -> RDD:
        """Records of (number of the run, offset, bytes)."""
        return self._rdd.filter(lambda record: not isinstance(record, RunRecord))

    def forget(self) -> None:
        self._rdd.unpersist()


def _reading(work: Work, rekeyed: frozenset[str]) -> Callable:
    def read(shares: Iterable[tuple[int, Share]]) -> Iterator[object]:
        for number, share in shares:
            with scratch_folder() as folder:
                copy = copy_share(share, folder, work.configuration_xml)
                keys = ("--keys", "uri") if share.files[0].path in rekeyed else ()
                threads = ("--threads", work.threads)
                command = [*work.read, *keys, *threads, *copy.arguments, *copy.paths, "-o", "run", "--tmp", folder]
                summary = None
                try:
                    summary = work.executable.run(*command, folder=folder, names=copy.names)
                except MementoMapError:
                    if not fill_in(share, copy, work.configuration_xml):
                        raise
                if summary is None:
                    # Once more, to say the number of the line in the whole file.
                    summary = work.executable.run(*command, folder=folder, names=copy.names)
                run = os.path.join(folder, "run")
                yield RunRecord(number, summary, footer_of(run), os.path.getsize(run))
                for chunk in chunks_of(run):
                    yield number, *chunk

    return read


def read_runs(context: SparkContext, inputs: Inputs, work: Work) -> Runs:
    """Reads all shares into runs.

    Keys are those of the key column, or made from URIs where these differ. Of a file that several tasks read, one
    may find a difference that the others do not have; then all make them from URIs.
    """
    rekeyed: frozenset[str] = frozenset()
    while True:
        runs = Runs(context, inputs.shares, work, rekeyed)
        found = set()
        for record in runs.records:
            share = inputs.shares[record.number]
            if share.split is not None and record.summary.get("rekeyed"):
                found.add(share.files[0].path)
        agreed = {
            path
            for path in found - rekeyed
            if all(
                record.summary.get("rekeyed")
                for record in runs.records
                if inputs.shares[record.number].files[0].path == path
            )
        }
        if found <= rekeyed | agreed:
            return runs
        runs.forget()
        rekeyed = rekeyed | found


def choose_cuts(runs: Runs, ranges: int | None, parallelism: int, executable: Executable, folder: str) -> bytes:
    """The keys between ranges, one on a line."""
    wanted = ranges or max(parallelism, -(-runs.bytes // _RANGE_BYTES))
    if wanted == 1:
        return b""
    own = os.path.join(folder, "cuts")
    os.mkdir(own)
    blocks = sum(len(parse_footer(record.footer)["run"]["blocks"]) for record in runs.records)
    if blocks >= wanted * BLOCKS_PER_RANGE:
        for record in runs.records:
            write_chunk(os.path.join(own, str(record.number)), (0, without_keys(record.footer)))
    else:
        for number, *chunk in runs.chunks().toLocalIterator():
            write_chunk(os.path.join(own, str(number)), (chunk[0], chunk[1]))
    names = sorted(os.listdir(own), key=int)
    executable.run("partition", "--into", wanted, *names, "-o", "../cuts.txt", folder=own)
    with open(os.path.join(folder, "cuts.txt"), "rb") as file:
        return file.read()


#: Makes the files of a range of the runs in a folder; returns the one that is wanted.
MergeRange = Callable[[Executable, str, int, Sequence[str]], str]


def merge_ranges(runs: Runs, cuts: bytes, work: Work, merge: MergeRange) -> RDD:
    """Cuts runs into ranges, moves each range to a task, and merges it there.

    Gives a partition for each range: a RangeRecord, then the chunks of the file that `merge` makes.
    """
    ranges = cuts.count(b"\n") + 1
    slices = runs.chunks().mapPartitions(_cutting(cuts, work))
    moved = slices.partitionBy(ranges, lambda number: number)
    merged = moved.values().mapPartitionsWithIndex(_merging(cuts, work, merge))
    return merged.persist(StorageLevel.DISK_ONLY)


def _cutting(cuts: bytes, work: Work) -> Callable:
    def cut(chunks: Iterable[tuple[int, int, bytes]]) -> Iterator[tuple[int, tuple[int, int, bytes]]]:
        with scratch_folder() as folder:
            numbers = set()
            for number, offset, content in chunks:
                write_chunk(os.path.join(folder, str(number)), (offset, content))
                numbers.add(number)
            _write_cuts(folder, cuts)
            for number in sorted(numbers):
                if not cuts:
                    slices = [str(number)]
                else:
                    own = f"{number}.runs"
                    work.executable.run("partition", "--cuts", "cuts.txt", number, "-o", own, folder=folder)
                    slices = sorted(os.path.join(own, name) for name in os.listdir(os.path.join(folder, own)))
                for i, name in enumerate(slices):
                    path = os.path.join(folder, name)
                    # The first has what the run says of itself, and is needed even without keys.
                    if i > 0 and parse_footer(footer_of(path))["run"]["keys"] == 0:
                        continue
                    for chunk in chunks_of(path):
                        yield i, (number, *chunk)

    return cut


def _merging(cuts: bytes, work: Work, merge: MergeRange) -> Callable:
    def merge_one(index: int, slices: Iterable[tuple[int, int, bytes]]) -> Iterator[object]:
        with scratch_folder() as folder:
            numbers = set()
            shuffled = 0
            for number, offset, content in slices:
                write_chunk(os.path.join(folder, str(number)), (offset, content))
                numbers.add(number)
                shuffled += len(content)
            _write_cuts(folder, cuts)
            made = os.path.join(folder, merge(work.executable, folder, index + 1, [str(n) for n in sorted(numbers)]))
            yield RangeRecord(shuffled, os.path.getsize(made))
            yield from chunks_of(made)

    return merge_one


def _write_cuts(folder: str, cuts: bytes) -> None:
    with open(os.path.join(folder, "cuts.txt"), "wb") as file:
        file.write(cuts)


def change_ranges(files: RDD, change: Callable[[str, str], str]) -> RDD:
    """Makes another file of the file of each range: `change(folder, name)` returns its name."""

    def change_one(records: Iterable[object]) -> Iterator[object]:
        with scratch_folder() as folder:
            _gather(records, os.path.join(folder, "part"))
            made = os.path.join(folder, change(folder, "part"))
            yield RangeRecord(0, os.path.getsize(made))
            yield from chunks_of(made)

    return files.mapPartitions(change_one).persist(StorageLevel.DISK_ONLY)


def _gather(records: Iterable[object], path: str) -> None:
    for record in records:
        if not isinstance(record, RangeRecord):
            write_chunk(path, record)


def fetch_ranges(files: RDD, folder: str, name: str) -> tuple[list[str], list[RangeRecord]]:
    """Brings the files of all ranges to the driver; returns their names and what is known of them."""
    records = files.filter(lambda record: isinstance(record, RangeRecord)).collect()
    numbered = files.mapPartitionsWithIndex(
        lambda index, of: ((index, record) for record in of if not isinstance(record, RangeRecord))
    )
    for index, chunk in numbered.toLocalIterator(prefetchPartitions=True):
        write_chunk(os.path.join(folder, f"{name}-{index + 1}"), chunk)
    return [f"{name}-{index + 1}" for index in range(files.getNumPartitions())], records
