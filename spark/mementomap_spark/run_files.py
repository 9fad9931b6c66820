"""What a run says of itself; src/map/parts/run-file.ts describes the file."""

from __future__ import annotations

import json
import os

_MAGIC = b"\x89MMR\r\n\x1a\n"
_TAIL = 8 + len(_MAGIC)
#: `partition --into` takes cuts from the first keys of blocks alone where there are as many for each range.
BLOCKS_PER_RANGE = 32


def footer_of(path: str) -> bytes:
    """The end of a run: what it says of itself, and how long that is."""
    with open(path, "rb") as file:
        file.seek(-_TAIL, os.SEEK_END)
        length = int.from_bytes(file.read(8), "little")
        file.seek(-_TAIL - length, os.SEEK_END)
        return file.read()


def parse_footer(footer: bytes) -> dict:
    return json.loads(footer[:-_TAIL])


def without_keys(footer: bytes) -> bytes:
    """A run to choose cuts from."""
    return _MAGIC + footer
