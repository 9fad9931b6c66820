"""A reader of packed maps, as docs/packed.md specifies them. Python 3.8, without dependencies."""

import json
import re
import struct
import zlib

HOME, ALL, QUERY, ANY_QUERY, NONE = 1, 2, 4, 8, 16  # the flags of a descriptor
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
    """A packed map with its deltas, given all bytes of the file; checked as section 9 asks."""

    def __init__(self, data, before=None):
        check(len(data) >= 32 and data[:8] == b"\x89MMP\r\n\x1a\n", "magic")
        version, json_bytes, descriptors, shards, crc, start = struct.unpack_from("<6I", data, 8)
        directory = 32 + 8 * descriptors
        json_start = directory + 16 * shards
        check(version == 1 and start == (json_start + json_bytes + 7) // 8 * 8, "version or sizes")
        check(start <= len(data) and crc == zlib.crc32(data[32:start]), "head")
        self.mark = "%08x%08x" % hash_bytes(data[:start])
        self.header = header = json.loads(data[json_start : json_start + json_bytes].decode())
        self.descriptors = list(struct.iter_unpack("7Bx", data[32:directory]))
        table = {"period": 0, **header["table"]}
        parts = [table[name] for name in ("fingerprint", "descriptor", "count", "period")]
        self.filters, end = {}, start  # the ribbons of each, by its kind or, for rows, its bits
        entries = struct.iter_unpack("<4I", data[directory:json_start])
        for entry in header["filters"]:
            kind, bits, count = entry["kind"], entry["bits"], entry["shards"]
            name = bits if kind == "rows" else kind
            check(kind in ("hosts", "rows", "voids") and name not in self.filters, "filters")
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
        check(within(0, 32, *parts) and within(0, 16, parts[1], parts[3]), "table")
        check(within(1, 1024, table["step"]) and (parts[0] > 0 or descriptors == 1), "table")
        check(not any(one[4] > 31 for one in self.descriptors) and not any(entries), "directory")
        check(within(0, 2**53, header["rows"], header["hosts"], header["voids"]), "counts")
        check(within(0, UINT32, header["hostWildcards"], header["hostSpreads"]), "labels")
        check(type(header["queries"]) is bool and type(header.get("source", {})) is dict, "header")
        check(all(type(one["name"]) is str for one in header["headers"]), "headers")
        for first, last in header.get("periods", []):
            check(within(0, 9999, first) and within(first, 9999, last), "periods")
        check(("delta" in header) == (before is not None), "delta")
        self.position = before.position + 1 if before else 0
        if before:
            position, most = header["delta"]["position"], header["delta"]["most"]
            check(within(self.position, self.position, position), "delta")
            check(within(position, 63, most) and header["delta"]["base"] == before.mark, "delta")
            check(header["queries"] == before.header["queries"], "delta")
        self.parts = [self, *(PackedMap(data[end:], self).parts if end < len(data) else [])]

    def describe(self, name):
        """The descriptor of a host that is known, and at most how many captures, of which years."""
        table, periods = self.header["table"], self.header.get("periods", [])
        if table["fingerprint"] == 0:
            return (*self.descriptors[0], (0, None))
        value = find(self.filters.get("hosts"), *hash_bytes(name.encode()), table["fingerprint"])
        note, index = divmod(value or 0, 2 ** table["descriptor"])
        period, level = divmod(note, 2 ** table["count"])
        if value is None or index >= len(self.descriptors):
            return None
        bound = 2 ** min(53, table["step"] * (level + 1)) - 1 if table["count"] > 0 else 0
        years = periods[period] if period < len(periods) else None
        return (*self.descriptors[index], (bound, years))

    def questions(self, surt):
        """The names of section 7, each with a descriptor: ask rows, ask voids, width of its row."""
        header, (host, path, query) = self.header, KEY.match(surt).groups("")
        ends = [query, "?*"] if header["queries"] else [""]
        own = self.describe(host) or (*[0] * 7, (0, None))
        exact, wildcards, void_exact, void_wildcards, flags, width, wide_width, _ = own
        if not host:
            yield from ((path + end, own, exact & 2, 0, width) for end in ends)
            return
        path = path or "/"
        segments = [] if path == "/" else path[1:].split("/")
        bit = 1 << min(len(segments), 7)
        yield host + "/", own, path + ends[0] == "/" and flags & HOME, 0, 0
        rows = [flags & QUERY if ends[0] else exact & bit, flags & ANY_QUERY]
        for end, asked, bits in zip(ends, rows, [width, wide_width]):
            yield host + path + end, own, asked, void_exact & bit, bits
        for depth in range(len(segments), -1, -1):
            folder, bit = "/".join([host, *segments[:depth], "*"]), 1 << min(depth, 7)
            yield folder, own, depth == 0 and flags & ALL, 0, 0
            yield folder, own, wildcards & bit, void_wildcards & bit, wide_width
        labels = host[:-1].split(",")
        for count in range(len(labels), 0, -1):
            above, bit = ",".join(labels[:count]) + ",*", 1 << min(count, 31)
            spread = self.describe(above + ")") if header["hostSpreads"] & bit else None
            for end, bits in zip(ends, spread[5:7] if spread else []):
                yield above + ")" + path + end, spread, 1, spread[2], bits
            known = self.describe(above) if header["hostWildcards"] & bit else None
            if known:
                is_sure = header["table"]["fingerprint"] > 0
                yield above, known, not known[4] & NONE, is_sure or 1, 0 if is_sure else known[6]

    def answer(self, surt):
        """What this part says: whether a key is present, by what name, captures and years."""
        for name, (*_, note), rows, voids, width in self.questions(surt):
            low, high = hash_bytes(name.encode())
            bits = (width + 7 - (mix(high ^ 0x165667B1) >> 29)) // 8
            if rows and (bits == 0 or find(self.filters.get(bits), low, high) == 0):
                return True, name, *note
            if voids is True or (voids and find(self.filters.get("voids"), low, high) == 0):
                return False, name, *note
        return False, None, *note

    def lookup(self, surt):
        """Whether a key is present, by what name, at most how many captures, and of which years."""
        answers = [part.answer(surt) for part in self.parts]
        present, name, _, years = next((answer for answer in answers if answer[0]), answers[0])
        bound = max(answer[2] for answer in answers) if present else 0
        return present, name, bound, years if present and len(answers) == 1 else None
