import { describe, expect, it } from "vitest";
import { closest, MementoStore, momentOf } from "../../page/time/memento-store.ts";

describe("MementoStore", () => {
  it("sorts mementos of any time, also those before 1970", () => {
    const store = new MementoStore();
    const rows = [20150101000000, 19691231230000, 20990101000000, 19010101000000];
    store.add({
      archive: "a",
      patterns: ["http://a/{}"],
      rows: rows.flatMap((datetime) => [datetime, 0]),
    });
    const order = store.sorted(new Set());
    expect(Array.from(order, (index) => store.at(index).uri)).toEqual(
      rows.toSorted((a, b) => a - b).map((datetime) => `http://a/${datetime}`),
    );
    expect(closest(store, order, Date.UTC(1970, 0, 1))).toBe(1);
  });
});

describe("the moment in an address", () => {
  it.each([
    ["2005", "2005-01-01T00:00:00.000Z"],
    ["200502", "2005-02-01T00:00:00.000Z"],
    ["19690601000000", "1969-06-01T00:00:00.000Z"],
    ["2005-01-02T03:04:05.000Z", "2005-01-02T03:04:05.000Z"],
  ])("reads %s", (text, iso) => {
    expect(new Date(momentOf(text)).toISOString()).toBe(iso);
  });

  it("is none where there is none", () => {
    expect([momentOf(undefined), momentOf("soon")]).toEqual([Number.NaN, Number.NaN]);
  });
});
