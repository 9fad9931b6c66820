import { formatAmount, formatBytes, formatCount, formatDuration } from "../../src/format.ts";
import { describe, expect, it } from "vitest";
import {
  parseDecimal,
  parsePositive,
  parseShare,
  parseSize,
  parseWhole,
} from "../../src/cli/common/options.ts";

describe("parseSize", () => {
  it.each([
    ["0", 0],
    ["4096", 4096],
    ["64k", 65_536],
    ["64K", 65_536],
    ["2m", 2_097_152],
    ["512MiB", 536_870_912],
    ["1.5g", 1_610_612_736],
    ["10b", 10],
    ["1kb", 1024],
    ["1t", 2 ** 40],
  ])("reads %s as %d", (text, bytes) => {
    expect(parseSize(text)).toBe(bytes);
  });

  it.each(["", "k", "-1", "1x", "1 k", "1e3", "0x10", "1ib", "99999999t", "1,5m"])(
    "refuses %j",
    (text) => {
      expect(() => parseSize(text)).toThrow(expect.objectContaining({ code: "MM_USAGE" }));
    },
  );
});

describe("numbers", () => {
  it("reads whole numbers from a least one up", () => {
    expect(parseWhole("0")).toBe(0);
    expect(parsePositive("12")).toBe(12);
    for (const text of ["", "-1", "1.5", "1e3", "9007199254740993", "99999999999999999"]) {
      expect(() => parseWhole(text)).toThrow(expect.objectContaining({ code: "MM_USAGE" }));
    }
    expect(() => parsePositive("0")).toThrow("at least 1");
  });

  it("reads decimals and shares", () => {
    expect(parseDecimal("4")).toBe(4);
    expect(parseDecimal(".5")).toBe(0.5);
    expect(parseShare("1.5%")).toBe(0.015);
    expect(parseShare("0.015")).toBe(0.015);
    expect(parseShare("1")).toBe(1);
    expect(parseShare("150%")).toBe(1.5);
    // Somebody who writes 10 means 10%, and would get a map that is not compacted at all.
    expect(() => parseShare("10")).toThrow('not a share: "10"; write 10%');
    for (const text of ["", "x", "-1", "Infinity", "1e999", "%", "NaN"]) {
      expect(() => parseDecimal(text)).toThrow(expect.objectContaining({ code: "MM_USAGE" }));
      expect(() => parseShare(text)).toThrow(expect.objectContaining({ code: "MM_USAGE" }));
    }
  });
});

describe("amounts for people", () => {
  it.each([
    [formatBytes(812), "812 B"],
    [formatBytes(65_536), "65.5 kB"],
    [formatBytes(1.1 * 2 ** 30), "1.2 GB"],
    [formatAmount(1, "page"), "1 page"],
    [formatAmount(1200, "page"), "1,200 pages"],
    [formatCount(0), "0"],
    [formatCount(999), "999"],
    [formatCount(3_900_000), "3,900,000"],
    [formatDuration(812), "0.8 s"],
    [formatDuration(125_000), "2 min 5 s"],
    [formatDuration(3_780_000), "1 h 3 min"],
  ])("shows %s", (shown, expected) => {
    expect(shown).toBe(expected);
  });
});
