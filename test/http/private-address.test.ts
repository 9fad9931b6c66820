import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isPrivateAddress } from "../../src/http/private-address.ts";

describe("private addresses", () => {
  it.each([
    ["127.0.0.1", true],
    ["10.255.255.255", true],
    ["172.31.0.1", true],
    ["172.32.0.1", false],
    ["192.168.0.1", true],
    ["169.254.169.254", true],
    ["100.64.0.1", true],
    ["0.0.0.0", true],
    ["255.255.255.255", true],
    ["8.8.8.8", false],
    ["::1", true],
    ["::", true],
    ["fe80::1", true],
    ["fec0::1", true],
    ["feff::1", true],
    ["fd00::1", true],
    ["ff02::1", true],
    ["::ffff:10.0.0.1", true],
    ["::ffff:a00:1", true],
    ["::ffff:8.8.8.8", false],
    ["64:ff9b::a00:1", true],
    ["64:ff9b::808:808", false],
    ["2002:a00:1::", true],
    ["2606:4700::1111", false],
    ["::ffff:0:7f00:1", true],
    ["::ffff:0:127.0.0.1", true],
    ["2001:0:5ef5:79fb::1", true],
    ["2001:4860:4860::8888", false],
    ["3fff::1", true],
    ["5f00::1", true],
    ["not an address", true],
  ])("%s: %s", (address, isPrivate) => {
    expect(isPrivateAddress(address)).toBe(isPrivate);
  });

  it("are found in every way to write them as IPv6", () => {
    fc.assert(
      fc.property(fc.nat(255), fc.nat(255), fc.nat(255), (b, c, d) => {
        const low = (c * 256 + d).toString(16);
        expect(isPrivateAddress(`::ffff:10.${b}.${c}.${d}`)).toBe(true);
        expect(isPrivateAddress(`::ffff:${(10 * 256 + b).toString(16)}:${low}`)).toBe(true);
      }),
    );
  });
});
