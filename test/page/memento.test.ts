import { describe, expect, it } from "vitest";
import { closest, density, mementosOf, spanOf, timeOf } from "../../page/time/memento.ts";

const DATETIMES = [19010101000000, 19691231230000, 20150101000000, 20150415000000];
const MEMENTOS = mementosOf({
  archive: "a",
  patterns: ["http://a/{}"],
  rows: DATETIMES.flatMap((datetime) => [datetime, 0]),
});

describe("mementos", () => {
  it("are of any time, also before 1970", () => {
    expect(MEMENTOS.map(({ uri }) => uri)).toEqual(DATETIMES.map((each) => `http://a/${each}`));
    expect(closest(MEMENTOS, Date.UTC(1970, 0, 1))).toBe(1);
    expect(closest(MEMENTOS, Date.UTC(2015, 1, 1))).toBe(2);
    expect(closest(MEMENTOS, Date.UTC(2030, 0, 1))).toBe(3);
    expect(closest([], 0)).toBe(-1);
  });

  it("are counted by months, or by quarters of many years", () => {
    const late = MEMENTOS.slice(2);
    expect(density(late, spanOf(late))).toEqual([1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
    const span = spanOf(MEMENTOS.slice(1));
    expect(span.isQuarters).toBe(true);
    expect(density(MEMENTOS.slice(1), span).slice(-4)).toEqual([1, 1, 0, 0]);
  });
});

describe("the time in an address", () => {
  it.each([
    ["2005", "2005-01-01T00:00:00.000Z"],
    ["200502", "2005-02-01T00:00:00.000Z"],
    ["19690601000000", "1969-06-01T00:00:00.000Z"],
    ["2005-01-02T03:04:05.000Z", "2005-01-02T03:04:05.000Z"],
  ])("reads %s", (text, iso) => {
    expect(new Date(timeOf(text)).toISOString()).toBe(iso);
  });

  it.each([undefined, "soon", "20051399"])("is none for %s", (text) => {
    expect(timeOf(text)).toBe(Number.NaN);
  });
});
