"""Looks keys up in a packed map with the short reader. Keys are SURTs: com,example)/a/b.

python3 packed_lookup.py FILE [KEY...] answers for the keys, or for the lines of standard input.
"""

import sys

from packed_reader import PackedMap

with open(sys.argv[1], "rb") as file:
    packed = PackedMap(file.read())
for key in sys.argv[2:] or filter(None, sys.stdin.read().split("\n")):
    present, name = packed.lookup(key)
    print(key, "present" if present else "absent", name or "-")
