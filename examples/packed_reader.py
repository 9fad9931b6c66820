"""A reader of packed maps, as docs/packed.md specifies them. Python 3.8 or later, no dependencies.

python3 packed_reader.py FILE [KEY...] answers for the keys, or for the lines of standard input.
"""

import json
import re
import struct
import sys
import zlib

HOME, ALL, QUERY, ANY_QUERY, NONE = 1, 2, 4, 8, 16  # the flags of a descriptor
KEY = re.compile(r"(?:(.*?)\)(?=/|\Z))?([^?]*)(\?.+)?", re.DOTALL)  # host, path and query
UINT32 = 0xFFFFFFFF
ALWAYS = -1  # for a void that is no name of a filter


def check(holds, part):
    if not holds:
        raise ValueError("not a packed map, or damaged: " + part)


def are_within(least, most, *numbers):
    return all(type(n) is int and least <= n <= most for n in numbers)


def mix(x):
    x &= UINT32
    x = ((x ^ (x >> 16)) * 0x85EBCA6B) & UINT32
    x = ((x ^ (x >> 13)) * 0xC2B2AE35) & UINT32
    return x ^ (x >> 16)


def hash_bytes(name):
    a, b = 0x811C9DC5, 0x2C1B3C6D
    for byte in name:
        a = ((a ^ byte) * 0x01000193) & UINT32
        b = ((b ^ byte) * 0x85EBCA6B) & UINT32
    low = mix(a + b * 0x9E3779B1)
    return low, mix(b ^ low)


def find(ribbons, low, high, fingerprint_bits=None):
    """The value of a name without its fingerprint; None if it does not have its fingerprint."""
    if ribbons is None:
        return None
    words, bits, slots, seed = ribbons[mix(low ^ 0x3C6EF372) * len(ribbons) >> 32]
    start = (mix(low ^ (seed + 1) * 0x9E3779B1) ^ high) * (slots - 63) >> 32
    first = mix(high * 0x9E3779B1 + low + seed) | 1
    second = mix((low * 0x85EBCA77) ^ (high + seed * 0xC2B2AE3D))
    coefficients = (second << 32 | first) << start % 32
    value = 0
    for bit in range(bits):
        at = start // 32 * bits + bit
        column = words[at : at + 2 * bits + 1 : bits]
        picked = coefficients & sum(word << 32 * i for i, word in enumerate(column))
        value |= bin(picked).count("1") % 2 << bit
    checked = bits if fingerprint_bits is None else fingerprint_bits
    return None if (value ^ mix(low + high * 0x27D4EB2F)) % 2**checked else value >> checked


class Part:
    """A packed map or a delta, checked as section 9 asks. Deltas may follow it."""

    def __init__(self, data):
        check(len(data) >= 32 and data[:8] == b"\x89MMP\r\n\x1a\n", "magic")
        version, json_bytes, descriptors, shards, crc, start = struct.unpack_from("<6I", data, 8)
        check(version == 1, f"version {version}")
        directory = 32 + 8 * descriptors
        json_start = directory + 16 * shards
        check(start == (json_start + json_bytes + 7) // 8 * 8 <= len(data), "preamble")
        check(crc == zlib.crc32(data[32:start]), "head")
        self.mark = "%08x%08x" % hash_bytes(data[:start])
        self.header = header = json.loads(data[json_start : json_start + json_bytes].decode())
        self.descriptors = list(struct.iter_unpack("7Bx", data[32:directory]))
        self.filters = {}  # the ribbons of each, by its kind and, for rows, its bits
        self.end = start
        entries = struct.iter_unpack("<4I", data[directory:json_start])
        for entry in header["filters"]:
            kind, bits, count = entry["kind"], entry["bits"], entry["shards"]
            name = ("rows", bits) if kind == "rows" else kind
            check(kind in ("hosts", "rows", "voids") and name not in self.filters, "filters")
            check(are_within(1, 32, bits) and are_within(1, shards, count), "filters")
            self.filters[name] = []
            for _ in range(count):
                first, slots, seed, crc = next(entries, (0, 0, 0, 0))
                at, self.end = self.end, self.end + slots // 8 * bits
                check(at == start + 4 * first and slots >= 64 and slots % 32 == 0, "directory")
                check(self.end <= len(data) and crc == zlib.crc32(data[at : self.end]), "shard")
                words = struct.unpack(f"<{slots // 32 * bits}I", data[at : self.end])
                self.filters[name].append((words, bits, slots, seed))
        check(next(entries, None) is None, "directory")
        check(all(type(one["name"]) is str for one in header["headers"]), "headers")
        check(type(header["queries"]) is bool and type(header.get("source", {})) is dict, "header")
        check(are_within(0, 2**53, header["rows"], header["hosts"], header["voids"]), "counts")
        check(are_within(0, UINT32, header["hostWildcards"], header["hostSpreads"]), "labels")
        parts = [header["table"][name] for name in ("fingerprint", "descriptor", "count")]
        parts.append(header["table"].get("period", 0))
        check(are_within(0, 32, *parts) and are_within(0, 16, parts[1], parts[3]), "table")
        for first, last in header.get("periods", []):
            check(are_within(0, 9999, first) and are_within(first, 9999, last), "periods")
        check(are_within(1, 1024, header["table"]["step"]), "table")
        hosts = self.filters.get("hosts")
        check(not hosts or (descriptors > 0 and hosts[0][1] == sum(parts)), "table of hosts")
        check(parts[0] > 0 or (descriptors == 1 and not hosts), "table of hosts")
        check(all(descriptor[4] < 32 for descriptor in self.descriptors), "flags")

    def _describe(self, name):
        """The descriptor of a host that is known, at most how many captures it has, and their years."""
        table, periods = self.header["table"], self.header.get("periods", [])
        if table["fingerprint"] == 0:
            return (*self.descriptors[0], (0, None))
        value = find(self.filters.get("hosts"), *hash_bytes(name.encode()), table["fingerprint"])
        note, index = divmod(value or 0, 2 ** table["descriptor"])
        period, level = divmod(note, 2 ** table["count"])
        if value is None or index >= len(self.descriptors):
            return None
        bound = 2 ** min(53, table["step"] * (level + 1)) - 1
        years = periods[period] if period < len(periods) else None
        return (*self.descriptors[index], (bound if table["count"] > 0 else 0, years))

    def _questions(self, surt):
        """The names of section 7, each with the descriptor, and whether and how it is asked for."""
        header, (host, path, query) = self.header, KEY.match(surt).groups()
        ends = [query or "", "?*"] if header["queries"] else [""]
        own = self._describe("" if host is None else host + ")") or (*[0] * 7, (0, None))
        exact, wildcards, void_exact, void_wildcards, flags, width, wide_width, _ = own
        if host is None:
            yield from ((path + end, own, exact & 2, 0, width) for end in ends)
            return
        path = path or "/"
        segments = [] if path == "/" else path[1:].split("/")
        bit = 1 << min(len(segments), 7)
        if path + ends[0] == "/":
            yield host + ")/", own, flags & HOME, 0, 0
        rows = [flags & QUERY if ends[0] else exact & bit, flags & ANY_QUERY]
        for end, asked, bits in zip(ends, rows, [width, wide_width]):
            yield host + ")" + path + end, own, asked, void_exact & bit, bits
        for depth in range(len(segments), -1, -1):
            folder = "/".join([host + ")", *segments[:depth], "*"])
            bit = 1 << min(depth, 7)
            if depth == 0:
                yield folder, own, flags & ALL, 0, 0
            yield folder, own, wildcards & bit, void_wildcards & bit, wide_width
        labels = host.split(",")
        for count in range(len(labels), 0, -1):
            bit = 1 << min(count, 31)
            above = ",".join(labels[:count]) + ",*"
            spread = self._describe(above + ")") if header["hostSpreads"] & bit else None
            for end, bits in zip(ends, spread[5:7] if spread else []):
                yield above + ")" + path + end, spread, True, spread[2], bits
            known = self._describe(above) if header["hostWildcards"] & bit else None
            if known and header["table"]["fingerprint"] == 0:
                yield above, known, True, True, known[6]
            elif known:
                yield above, known, not known[4] & NONE, ALWAYS, 0

    def lookup(self, surt):
        """Whether a key is present, the name that decided, at most how many captures, and their years."""
        note = (0, None)
        for name, (*_, note), rows, voids, width in self._questions(surt):
            low, high = hash_bytes(name.encode())
            bits = (width + 7 - (mix(high ^ 0x165667B1) >> 29)) // 8
            if rows and (bits == 0 or find(self.filters.get(("rows", bits)), low, high) == 0):
                return True, name, *note
            if voids == ALWAYS or (voids and find(self.filters.get("voids"), low, high) == 0):
                return False, name, *note
        return False, None, *note


class PackedMap:
    """A packed map with its deltas, given all bytes of the file."""

    def __init__(self, data):
        self.parts = [Part(data)]
        check("delta" not in self.parts[0].header, "delta")
        start = self.parts[0].end
        while start < len(data):
            part, before, position = Part(data[start:]), self.parts[-1], len(self.parts)
            delta = part.header["delta"]
            check(delta["base"] == before.mark and delta["position"] == position, "delta")
            check(are_within(position, 63, delta["most"]), "delta")
            check(part.header["queries"] == before.header["queries"], "delta")
            self.parts.append(part)
            start += part.end

    def lookup(self, surt):
        """Present if any part says so; captures are the most of any part; with deltas, no years."""
        answers = [part.lookup(surt) for part in self.parts]
        present, name, _, years = next((answer for answer in answers if answer[0]), answers[0])
        bound = max(answer[2] for answer in answers) if present else 0
        return present, name, bound, years if present and len(answers) == 1 else None


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        packed = PackedMap(file.read())
    for key in sys.argv[2:] or filter(None, sys.stdin.read().split("\n")):
        present, name, bound, years = packed.lookup(key)
        more = [f"{years[0]}-{years[1]}"] if years else []
        print(key, "present" if present else "absent", name or "-", bound or "-", *more)
