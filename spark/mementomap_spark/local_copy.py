"""What a task needs of a file, on its own disk.

A part of a file is copied into a file of holes: of the same size and name, with the bytes of the part in their place,
and those that the executable looks at to tell the format. So `mementomap --split` does on a copy just what it does on
the file. Files of the local file system are not copied.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from .hadoop import FileStatus, Hadoop, hadoop_of_task, local_path
from .inputs import Share

#: What the executable looks at: the beginning (HEAD_BYTES of src/input/index-input.ts, as it is stored), and
#: samples of lines (those of `sampleLines` in src/input/file-inputs.ts).
_HEAD_BYTES = 2**21
_SAMPLES = 16
_SAMPLE_BYTES = 2**14
#: Read beyond the end of a part at once, for the rest of its last line.
_LINE_BYTES = 2**16


@dataclass(frozen=True)
class LocalCopy:
    """The local files of a share, in its order."""

    paths: Sequence[str]
    arguments: Sequence[str]
    #: What to call the local files in messages.
    names: dict[str, str]


def copy_share(share: Share, folder: str, configuration_xml: str) -> LocalCopy:
    paths = []
    for number, file in enumerate(share.files):
        path = local_path(file.path)
        if path is None:
            path = _new_file(file, folder, number)
            hadoop = hadoop_of_task(configuration_xml)
            if share.split is None:
                hadoop.copy(file.path, 0, file.size, path, at=0)
            else:
                _copy_part(hadoop, file, share, path)
            os.truncate(path, file.size)
        paths.append(path)
    names = {path: file.path for path, file in zip(paths, share.files)}
    arguments = () if share.split is None else ("--split", "{}-{}".format(*share.split))
    return LocalCopy(paths, arguments, names)


def fill_in(share: Share, copy: LocalCopy, configuration_xml: str) -> bool:
    """Adds what is before the part, to count its lines; whether anything was missing."""
    if share.split is None or local_path(share.files[0].path) is not None:
        return False
    [path], [file] = copy.paths, share.files
    hadoop_of_task(configuration_xml).copy(file.path, 0, share.split[0], path, at=0)
    return True


def _new_file(file: FileStatus, folder: str, number: int) -> str:
    own = os.path.join(folder, f"input-{number}")
    os.mkdir(own)
    return os.path.join(own, os.path.basename(file.path))


def _copy_part(hadoop: Hadoop, file: FileStatus, share: Share, path: str) -> None:
    start, end = share.split
    hadoop.copy(file.path, 0, min(_HEAD_BYTES, file.size), path, at=0)
    if share.is_compressed:
        # Of the next member, what tells that it is one.
        hadoop.copy(file.path, start, min(end + 4, file.size), path, at=start)
        return
    for sample in range(1, _SAMPLES):
        at = int(file.size / _SAMPLES * sample)
        hadoop.copy(file.path, at, min(at + _SAMPLE_BYTES, file.size), path, at=at)
    begin = max(0, start - 1)
    hadoop.copy(file.path, begin, end, path, at=begin)
    # The last line ends at the first line end at or behind the last byte of the part.
    while end < file.size and not _has_line_end(path, max(share.split[1] - 1, end - _LINE_BYTES), end):
        more = min(end + _LINE_BYTES, file.size)
        hadoop.copy(file.path, end, more, path, at=end)
        end = more


def _has_line_end(path: str, start: int, end: int) -> bool:
    with open(path, "rb") as file:
        file.seek(start)
        return b"\n" in file.read(end - start)
