"""Results appear under their names when they are whole, or not at all."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterable

from .executable import MementoMapError, scratch_folder
from .hadoop import Hadoop, local_path


def refuse_existing(hadoop: Hadoop, paths: Iterable[str | None], force: bool) -> None:
    """Fails before any work is done, not after."""
    for path in paths:
        if path is not None and not force and hadoop.exists(path):
            raise MementoMapError(f"{path}: is there already; name another, or replace it with --force [MM_USAGE]")


def publish(hadoop: Hadoop, path: str, force: bool, make: Callable[[str], None]) -> None:
    """Calls `make` with the path of a local file or folder to write, and puts it where it belongs.

    On other file systems it is uploaded beside its place, under another name, and renamed.
    """
    full = hadoop.full_path(path)
    place = local_path(full)
    if place is not None:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        make(place)  # the executable itself writes files and folders whole or not at all
        return
    folder, _, name = full.rpartition("/")
    unfinished = f"{folder}/_{name}.{uuid.uuid4().hex}.unfinished"
    with scratch_folder() as scratch:
        made = os.path.join(scratch, name)
        make(made)
        try:
            hadoop.make_folder(folder)
            hadoop.upload(made, unfinished)
            if force and hadoop.exists(full):
                hadoop.delete(full)
            hadoop.rename(unfinished, full)
        except BaseException:
            hadoop.delete(unfinished)
            raise
