"""Running the `mementomap` executable."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from pyspark import SparkFiles

#: The exit status for bad input and misuse: retrying would not help.
BAD_INPUT = 2


class MementoMapError(Exception):
    """Bad input or misuse; the message includes the position."""


@dataclass(frozen=True)
class Executable:
    """How to run `mementomap`; sent to tasks."""

    #: Its path; by default in the archive passed to spark-submit, or on the PATH.
    path: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)

    def run(
        self, *arguments: object, folder: str, names: Mapping[str, str] | None = None, lines: Iterable[bytes] = ()
    ) -> dict:
        """Runs a command in a folder, with these lines as its stdin; returns its summary.

        In messages, the paths of local copies are replaced by `names`.
        """
        command = [self._locate(), *map(str, arguments), "--json"]
        environment = {**os.environ, **self.environment}
        with tempfile.TemporaryFile(dir=folder) as told, subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=told
        ) as process:
            # After an error, the command stops reading.
            with contextlib.suppress(BrokenPipeError), process.stdin as stdin:
                for chunk in lines:
                    stdin.write(chunk)
            status = process.wait()
            told.seek(0)
            text = told.read()
        summary = _last_json(text)
        if status == 0:
            return summary
        error = summary.get("error")
        if status == BAD_INPUT and error is not None:
            raise MementoMapError(_message(error, names or {}))
        raise RuntimeError(f"{' '.join(command[:2])} ended with status {status}: {text.decode('utf-8', 'replace')}")

    def _locate(self) -> str:
        if self.path is not None:
            return self.path
        for folder in (os.path.abspath(SparkFiles.getRootDirectory()), os.getcwd()):
            unpacked = os.path.join(folder, "mementomap", "bin", "mementomap")
            if os.path.exists(unpacked):
                return unpacked
        found = shutil.which("mementomap")
        if found is None:
            raise RuntimeError(
                "mementomap not found; use spark-submit --archives mementomap.tar.gz#mementomap, or --executable"
            )
        return found


def _last_json(output: bytes) -> dict:
    for line in reversed(output.decode("utf-8", "replace").splitlines()):
        if line.startswith("{"):
            with contextlib.suppress(ValueError):
                return json.loads(line)
    return {}


def _message(error: Mapping, names: Mapping[str, str]) -> str:
    place = error.get("source", "")
    message = error["message"]
    for path, name in names.items():
        place = place.replace(path, name)
        message = message.replace(path, name)
    if "line" in error:
        place = f"{place}:{error['line']}"
    return f"{place}: {message} [{error['code']}]" if place else f"{message} [{error['code']}]"


@contextlib.contextmanager
def scratch_folder() -> Iterator[str]:
    """A folder on Spark's local disks, removed after the task."""
    disks = os.environ.get("SPARK_EXECUTOR_DIRS") or os.environ.get("LOCAL_DIRS") or os.environ.get("SPARK_LOCAL_DIRS")
    parent = disks.replace(":", ",").split(",")[0] if disks else None
    if parent is not None:
        os.makedirs(parent, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="mementomap-", dir=parent) as folder:
        yield folder
