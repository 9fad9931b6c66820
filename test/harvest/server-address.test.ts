import { describe, expect, it } from "vitest";
import { serverAddress, withoutUser } from "../../src/harvest/cdx-request.ts";

describe("serverAddress", () => {
  it.each(["nowhere", "", "ftp://a.org/", "//a.org/", "file:///etc/passwd"])(
    "refuses %j",
    (text) => {
      expect(() => serverAddress(text)).toThrow(expect.objectContaining({ code: "MM_USAGE" }));
    },
  );
});

describe("withoutUser", () => {
  it.each([
    ["https://me:secret@a.org/cdx?x=1", "https://a.org/cdx?x=1"],
    ["https://me@a.org/", "https://a.org/"],
    ["http://A.org", "http://A.org"],
  ])("%s", (address, expected) => {
    expect(withoutUser(address)).toBe(expected);
  });
});
