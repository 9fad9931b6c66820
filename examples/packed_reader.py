"""A reader of packed maps, as docs/packed.md specifies them. Python 3.8, without dependencies."""

import json
import re
import struct
import zlib

HOME, ALL, QUERY, ANY_QUERY, VOIDS = 1, 2, 4, 8, 16  # the flags of a descriptor
KEY = re.compile(r"(.*?\)(?=[/?]|\Z))?([^?]*)(\?.+)?", re.DOTALL)  # name of the host, path, query
UINT32 = 0xFFFFFFFF


def check(holds, part):
    if not holds:
        raise ValueError("not a packed map, or damaged: " + part)


def within(least, most, *numbers):
    return all(type(n) is int and least <= n <= most for n in numbers)


def mix(x):
    x = ((x ^ (x >> 16) & 0xFFFF) * 0x85EBCA6B) & UINT32
    x = ((x ^ (x >> 13)) * 0xC2B2AE35) & UINT32
    return x ^ (x >> 16)


def hash_bytes(name):
    a, b = 0x811C9DC5, 0x2C1B3C6D
    for byte in name:
        a, b = ((a ^ byte) * 0x01000193) & UINT32, ((b ^ byte) * 0x85EBCA6B) & UINT32
    low = mix(a + b * 0x9E3779B1)
    return low, mix(b ^ low)


def find(ribbons, low, high, fingerprint_bits=None):
    """The value of a name behind its fingerprint; None if the fingerprint does not fit."""
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


class PackedMap:
    """A packed map, given all bytes of the file; checked as section 9 asks."""

    def __init__(self, data):
        check(len(data) >= 32 and data[:8] == b"\x89MMP\r\n\x1a\n", "magic")
        version, json_bytes, descriptors, shards, crc, start = struct.unpack_from("<6I", data, 8)
        directory = 32 + 4 * descriptors
        json_start = directory + 16 * shards
        first_void = (json_start + json_bytes + 7) // 8 * 8
        check(version == 1 and start % 8 == 0 and first_void <= start, "version or sizes")
        check(start <= len(data) and crc == zlib.crc32(data[32:start]), "head")
        self.header = header = json.loads(data[json_start : json_start + json_bytes].decode())
        self.descriptors = list(struct.iter_unpack("4B", data[32:directory]))
        self.voids = set(struct.iter_unpack("<2I", data[first_void:start]))
        check(header["voids"] * 8 == start - first_void, "version or sizes")
        table = header["table"]
        parts = [table[name] for name in ("fingerprint", "descriptor")]
        self.filters, end = {}, start  # the ribbons of each, by its kind or, for rows, its bits
        entries = struct.iter_unpack("<4I", data[directory:json_start])
        for entry in header["filters"]:
            kind, bits, count = entry["kind"], entry["bits"], entry["shards"]
            name = bits if kind == "rows" else kind
            check(kind in ("hosts", "rows") and name not in self.filters, "filters")
            check(within(1, 32, bits) and within(1, shards, count), "filters")
            check(kind != "hosts" or (descriptors > 0 < parts[0] and bits == sum(parts)), "table")
            self.filters[name] = []
            for _ in range(count):
                first, slots, seed, crc = next(entries, (0, 0, 0, 0))
                at, end = end, end + slots // 8 * bits
                check(at == start + 4 * first and slots >= 64 and slots % 32 == 0, "directory")
                check(end <= len(data) and crc == zlib.crc32(data[at : end]), "shard")
                words = struct.unpack(f"<{slots // 32 * bits}I", data[at : end])
                self.filters[name].append((words, bits, slots, seed))
        check(within(0, 32, *parts) and within(0, 16, parts[1]), "table")
        check(parts[0] > 0 or descriptors == 1, "table")
        check(not any(one[2] > 31 for one in self.descriptors) and not any(entries), "directory")
        check(end == len(data), "end")
        check(within(0, 2**53, header["rows"], header["hosts"], header["voids"]), "counts")
        check(within(0, UINT32, header["hostWildcards"], header["hostSpreads"]), "labels")
        check(type(header["queries"]) is bool and type(header.get("source", {})) is dict, "header")
        check(all(type(one["name"]) is str for one in header["headers"]), "headers")

    def describe(self, name):
        """The descriptor of a host that is known."""
        bits = self.header["table"]["fingerprint"]
        if bits == 0:
            return self.descriptors[0]
        index = find(self.filters.get("hosts"), *hash_bytes(name.encode()), bits)
        return None if index is None else dict(enumerate(self.descriptors)).get(index)

    def questions(self, surt):
        """The names of section 7, each with: ask voids, ask rows, the width of its row."""
        header, (host, path, query) = self.header, KEY.match(surt).groups("")
        ends = [query, "?*"] if header["queries"] else [""]
        own = self.describe(host) or [0] * 4
        exact, wildcards, flags, width = own
        voids = flags & VOIDS
        if not host:
            yield from ((path + end, voids, exact & 2, width) for end in ends)
            return
        path = path or "/"
        segments = [] if path == "/" else path[1:].split("/")
        bit = 1 << min(len(segments), 7)
        yield host + "/", 0, path + ends[0] == "/" and flags & HOME, 0
        rows = [flags & QUERY if ends[0] else exact & bit, flags & ANY_QUERY]
        for end, asked in zip(ends, rows):
            yield host + path + end, voids, asked, width
        for depth in range(len(segments), -1, -1):
            folder, bit = "/".join([host, *segments[:depth], "*"]), 1 << min(depth, 7)
            yield folder, 0, depth == 0 and flags & ALL, 0
            yield folder, voids, wildcards & bit, width
        labels = host[:-1].split(",")
        for count in range(len(labels), 0, -1):
            above, bit = ",".join(labels[:count]) + ",*", 1 << min(count, 31)
            if header["hostSpreads"] & bit:
                spread = self.describe(above + ")")
                for end in ends:
                    yield above + ")" + path + end, 1, spread, (spread or own)[3]
            if header["hostWildcards"] & bit:
                known = self.describe(above)
                is_sure = header["table"]["fingerprint"] > 0
                yield above, 1, known, 0 if is_sure else known[3]

    def lookup(self, surt):
        """Whether a key is present, and by what name."""
        for name, voids, rows, width in self.questions(surt):
            low, high = hash_bytes(name.encode())
            if voids and (low, high) in self.voids:
                return False, name
            bits = (width + 7 - (mix(high ^ 0x165667B1) >> 29)) // 8
            if rows and (bits == 0 or find(self.filters.get(bits), low, high) == 0):
                return True, name
        return False, None
