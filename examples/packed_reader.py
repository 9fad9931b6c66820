"""A reader of packed maps, as docs/packed.md specifies them. Python 3.8 or later, no dependencies.

    python3 examples/packed_reader.py FILE [KEY...]    answers for the keys, or for lines of standard input

A key is a SURT: `com,example)/a/b`. Maps with queries want its query, too: `com,example)/a/b?c=d`.
"""

import json
import struct
import sys
import zlib

MAGIC = b"\x89MMP\r\n\x1a\n"
HOME, ALL, QUERY, ANY_QUERY, NONE = 1, 2, 4, 8, 16
UINT32 = 0xFFFFFFFF


def mix(x):
    x &= UINT32
    x = ((x ^ (x >> 16)) * 0x85EBCA6B) & UINT32
    x = ((x ^ (x >> 13)) * 0xC2B2AE35) & UINT32
    return x ^ (x >> 16)


def scale(value, size):
    """A number below size."""
    return value * size >> 32


def hash_bytes(name):
    a, b = 0x811C9DC5, 0x2C1B3C6D
    for byte in name:
        a = ((a ^ byte) * 0x01000193) & UINT32
        b = ((b ^ byte) * 0x85EBCA6B) & UINT32
    low = mix(a + b * 0x9E3779B1)
    return low, mix(b ^ low)


def ribbon_value(ribbon, low, high):
    """What a ribbon gives a name."""
    words, slots, seed, bits = ribbon
    start = scale(mix(low ^ ((seed + 1) * 0x9E3779B1 & UINT32)) ^ high, slots - 63)
    first = mix(high * 0x9E3779B1 + low + seed) | 1
    second = mix((low * 0x85EBCA77 & UINT32) ^ (high + seed * 0xC2B2AE3D & UINT32))
    coefficients = (second << 32 | first) << (start & 31)
    value = 0
    for bit in range(bits):
        at = (start >> 5) * bits + bit
        x = words[at] & coefficients
        x ^= words[at + bits] & coefficients >> 32
        if coefficients >> 64:
            x ^= words[at + 2 * bits] & coefficients >> 64
        value |= (bin(x).count("1") & 1) << bit
    return value


def check(holds, part):
    if not holds:
        raise ValueError("not a packed map, or damaged: " + part)


def key_parts(surt, queries):
    """Takes a key apart; a key without a host is all path."""
    host_end = surt.find(")/")
    if host_end == -1 and surt.endswith(")"):
        host_end = len(surt) - 1
    path_end = surt.find("?", host_end + 1)
    if path_end == -1:
        path_end = len(surt)
    query = surt[path_end:] if queries and path_end + 1 < len(surt) else ""
    if host_end == -1:
        return None, surt[:path_end], query
    return surt[:host_end], surt[host_end + 1 : path_end] or "/", query


def check_header(header, descriptors):
    """The checksums find damage; a reader for files of strangers should check all of section 9."""
    table, filters = header["table"], header["filters"]
    names = [entry["bits"] if entry["kind"] == "rows" else entry["kind"] for entry in filters]
    check(isinstance(header["queries"], bool) and len(set(names)) == len(names), "header")
    bits = [entry["bits"] for entry in filters if entry["kind"] == "hosts"]
    if table["fingerprint"] == 0:
        check(not bits and descriptors == 1, "table of hosts")
    elif bits:
        check(bits == [table["fingerprint"] + table["descriptor"] + table["count"]], "table of hosts")
        check(descriptors > 0, "table of hosts")


class Part:
    """A packed map or a delta, all of it checked, which may be followed by others."""

    def __init__(self, data):
        check(len(data) >= 32 and data[:8] == MAGIC, "first bytes")
        version, json_bytes, descriptors, shards, crc, start = struct.unpack_from("<6I", data, 8)
        check(version == 1, "version %d" % version)
        directory = 32 + 8 * descriptors
        json_start = directory + 16 * shards
        check(start == -8 * (-(json_start + json_bytes) // 8), "preamble")
        check(start <= len(data), "cut short")
        check(crc == zlib.crc32(data[32:start]), "header")
        self.header = json.loads(data[json_start : json_start + json_bytes].decode())
        check_header(self.header, descriptors)
        # Each: exact, wildcards, void exact, void wildcards, flags, width, wide width.
        self.descriptors = [struct.unpack_from("<7B", data, 32 + 8 * i) for i in range(descriptors)]
        check(all(descriptor[4] < 32 for descriptor in self.descriptors), "descriptors")
        # The ribbons of each filter, by its kind and, for rows, its bits.
        self.filters = {}
        shard = words = 0
        for entry in self.header["filters"]:
            kind, bits = entry["kind"], entry["bits"]
            ribbons = self.filters[(kind, bits) if kind == "rows" else kind] = []
            for _ in range(entry["shards"]):
                check(shard < shards, "directory")
                first, slots, seed, crc = struct.unpack_from("<4I", data, directory + 16 * shard)
                check(first == words and slots >= 64 and slots % 32 == 0, "directory")
                length = slots // 32 * bits
                words += length
                check(start + 4 * words <= len(data), "cut short")
                part = data[start + 4 * first : start + 4 * words]
                check(crc == zlib.crc32(part), "shard %d" % shard)
                ribbons.append((struct.unpack("<%dI" % length, part), slots, seed, bits))
                shard += 1
        check(shard == shards, "directory")
        self.mark = "%08x%08x" % hash_bytes(data[:start])
        self.size = start + 4 * words

    def _find(self, kind, low, high, bits=None):
        """The value of a name above its lowest bits, if these, or all, are its fingerprint; or None."""
        ribbons = self.filters.get(kind)
        if ribbons is None:
            return None
        ribbon = ribbons[scale(mix(low ^ 0x3C6EF372), len(ribbons))]
        value = ribbon_value(ribbon, low, high)
        fingerprint = mix(low + high * 0x27D4EB2F)
        bits = ribbon[3] if bits is None else bits
        return None if (value ^ fingerprint) & ((1 << bits) - 1) else value >> bits

    def _is_row(self, low, high, width):
        bits = (width >> 3) + (mix(high ^ 0x165667B1) >> 29 < (width & 7))
        return bits == 0 or self._find(("rows", bits), low, high) is not None

    def _ask(self, name, asks_rows, asks_voids, width):
        """True if the name is a row, False if it is a void, None if it is neither."""
        low, high = hash_bytes(name.encode())
        if asks_rows and self._is_row(low, high, width):
            return True
        if asks_voids and self._find("voids", low, high) is not None:
            return False
        return None

    def _host(self, name):
        """The descriptor of a host, and at most how many captures it has; or None."""
        table = self.header["table"]
        if table["fingerprint"] == 0:
            return self.descriptors[0], None
        value = self._find("hosts", *hash_bytes(name.encode()), table["fingerprint"])
        if value is None:
            return None
        index = value & ((1 << table["descriptor"]) - 1)
        if index >= len(self.descriptors):
            return None
        level = (value >> table["descriptor"]) + 1
        bound = 2 ** min(53, table["step"] * level) - 1
        return self.descriptors[index], bound if table["count"] > 0 else None

    def _decisions(self, surt):
        """Asks for names, the most specific first: their answers, names, and bounds of captures."""
        header, ask = self.header, self._ask
        queries, has_table = header["queries"], header["table"]["fingerprint"] > 0
        host, path, query = key_parts(surt, queries)
        if host is None:
            own = self._host("")
            if own:
                yield None, None, own[1]
            if own and own[0][0] & 2:
                for name in [path + query] + ([path + "?*"] if queries else []):
                    yield ask(name, True, False, own[0][5]), name, own[1]
            return

        own = self._host(host + ")")
        bound = own[1] if own else None
        if own:
            exact, wildcards, void_exact, void_wildcards, flags, width, wide_width = own[0]
            segments = [] if path == "/" else path[1:].split("/")
            bit = 1 << min(len(segments), 7)
            name = host + ")" + path + query
            if path == "/" and query == "" and flags & HOME:
                yield True, name, bound
            yield ask(name, flags & QUERY if query else exact & bit, void_exact & bit, width), name, bound
            if queries:
                name = host + ")" + path + "?*"
                yield ask(name, flags & ANY_QUERY, void_exact & bit, wide_width), name, bound
            for at in range(len(segments), -1, -1):
                name = "/".join([host + ")"] + segments[:at] + ["*"])
                if at == 0 and flags & ALL:
                    yield True, name, bound
                bit = 1 << min(at, 7)
                yield ask(name, wildcards & bit, void_wildcards & bit, wide_width), name, bound

        labels = host.split(",")
        for count in range(len(labels), 0, -1):
            bit = 1 << min(count, 31)
            above = ",".join(labels[:count]) + ",*"
            spread = self._host(above + ")") if header["hostSpreads"] & bit else None
            if spread:
                bound = spread[1]
                for end, width in [(query, spread[0][5])] + ([("?*", spread[0][6])] if queries else []):
                    name = above + ")" + path + end
                    yield ask(name, True, spread[0][2], width), name, bound
            if not header["hostWildcards"] & bit:
                continue
            if not has_table:
                yield ask(above, True, True, self.descriptors[0][6]), above, None
                continue
            wide = self._host(above)
            if wide:
                yield not wide[0][4] & NONE, above, wide[1]

    def lookup(self, surt):
        """Whether a key is present, the name that decided, and at most how many captures its host has."""
        bound = None
        for present, name, bound in self._decisions(surt):
            if present is not None:
                return present, name, bound
        return False, None, bound


class PackedMap:
    """A packed map, with the deltas behind it. `lookup` answers for a key."""

    def __init__(self, data):
        self.parts = []
        mark, queries, start = None, None, 0
        while start < len(data) or not self.parts:
            part = Part(data[start:])
            delta = part.header.get("delta") or {"base": None, "position": 0}
            fits = delta["base"] == mark and delta["position"] == len(self.parts)
            check(fits and part.header["queries"] == (queries if mark else part.header["queries"]), "delta")
            self.parts.append(part)
            mark, queries, start = part.mark, part.header["queries"], start + part.size

    def lookup(self, surt):
        """Present if any part says so; the captures are the most that any part states."""
        answers = [part.lookup(surt) for part in self.parts]
        present, name, _ = next((answer for answer in answers if answer[0]), answers[0])
        bounds = [bound for _, _, bound in answers if bound is not None]
        if not present:
            return False, name, None if name is None else 0
        return True, name, max(bounds) if bounds else None


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        packed = PackedMap(file.read())
    for key in sys.argv[2:] or filter(None, sys.stdin.read().split("\n")):
        present, name, bound = packed.lookup(key)
        print(key, "present" if present else "absent", name or "-", "-" if bound is None else bound)
