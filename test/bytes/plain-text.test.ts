import { expect, it } from "vitest";
import { isPlainText } from "../../src/bytes/bytes.ts";

it("isPlainText is true of printable ASCII, tabs and line ends, in any place", () => {
  for (let value = 0; value < 256; value++) {
    const isPlain = value === 9 || value === 10 || (value >= 0x20 && value < 0x7f);
    for (const place of [0, 1, 3]) {
      const bytes = new Uint8Array(4).fill(0x61);
      bytes[place] = value;
      expect(isPlainText(bytes, 0, 4), `byte ${value} at ${place}`).toBe(isPlain);
      expect(isPlainText(bytes, place + 1, 4)).toBe(true);
    }
  }
  expect(isPlainText(Buffer.from("a\r\nb"), 0, 4)).toBe(true);
  // The line feed may be behind the range.
  expect(isPlainText(Buffer.from("a\r\nb"), 0, 2)).toBe(true);
});
