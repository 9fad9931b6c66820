import { describe, expect, it } from "vitest";
import { MissList } from "../../../src/compact/budget/miss-list.ts";

describe("MissList", () => {
  it("sorts keys by bytes, counts each once, and knows which half of the log it came in", () => {
    const list = new MissList(["com,b)/", "com,a)/b", "com,b)/", "com,a)/a-b", "com,a)/a"]);
    const keys = Array.from({ length: list.count }, (_, i) =>
      new TextDecoder().decode(list.bytes.subarray(list.starts[i], list.starts[i + 1])),
    );
    expect(keys).toEqual(["com,a)/a", "com,a)/a-b", "com,a)/b", "com,b)/"]);
    expect([...list.isLate]).toEqual([1, 1, 0, 0]);
  });
});
