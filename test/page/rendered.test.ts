import { h } from "preact";
import { renderToString } from "preact-render-to-string";
import { describe, expect, it } from "vitest";
import { mementosOf } from "../../page/time/memento.ts";
import { Progress } from "../../page/time/mementos.tsx";
import { Timeline } from "../../page/time/timeline.tsx";
import type { ArchiveProgress, MementoStream } from "../../page/time/use-mementos.ts";

type Result = NonNullable<ArchiveProgress["outcome"]>["result"];

function streamOf(
  results: readonly (Result | undefined)[],
  datetimes: readonly number[] = [],
): MementoStream {
  const rows = datetimes.flatMap((datetime) => [datetime, 0]);
  const mementos = mementosOf({ archive: "a0", patterns: ["http://a/{}"], rows });
  const archives = results.map((result, i): ArchiveProgress => ({
    id: `a${i}`,
    name: `Archive ${i}`,
    asked: result !== undefined,
    reason: result === undefined ? "not-in-map" : "no-map",
    key: null,
    frequency: null,
    outcome: result && {
      result,
      mementos: result === "hit" ? datetimes.length : 0,
      failure: null,
      detail: result === "error" ? "status 503" : null,
    },
  }));
  return { mementos, archives, state: "done" };
}

const progress = (results: readonly (Result | undefined)[]): string =>
  renderToString(h(Progress, { stream: streamOf(results) }));

const timeline = (results: readonly (Result | undefined)[], more: object = {}): string =>
  renderToString(
    h(Timeline, { uri: "http://a/", stream: { ...streamOf(results), ...more }, base: "" }),
  );

describe("what the page says of archives", () => {
  it("waits for archives only while they are asked", () => {
    const archives = streamOf(["miss"]).archives.map((each) => ({ ...each, outcome: undefined }));
    expect(timeline([], { archives, state: "asking" })).toContain("is-waiting");
    const broken = timeline([], { archives, state: "failed" });
    expect(broken).not.toContain("is-waiting");
    expect(broken).toContain("no response yet");
  });

  it("draws archives on one scale, so that few mementos do not look like many", () => {
    const datetimes = [20150101000000, 20150102000000, 20150103000000, 20150104000000];
    const { mementos, archives } = streamOf(["hit", "hit"], datetimes);
    const one = { uri: "http://b/", time: Date.UTC(2015, 5, 1), archive: "a1" };
    const page = timeline([], { mementos: [...mementos, one], archives });
    const heights = Array.from(page.matchAll(/slim.*?class="strip-bars" d="[^v]*v-([\d.]+)/g));
    expect(heights.map(([, height]) => height)).toEqual(["100.0", "50.0"]);
  });

  it("says that none has it only if all answered", () => {
    const none = "None of the queried archives has a memento";
    expect(progress(["miss", "miss", undefined])).toContain(none);
    const some = progress(["miss", "error"]);
    expect(some).not.toContain(none);
    expect(some).toContain("1 archive responded · 1 did not respond");
    const all = progress(["error", "error"]);
    expect(all).toContain("0 archives responded · 2 did not respond");
    expect(all).toContain("No archive responded, so it is unknown");
  });

  it("keeps one odd date from squeezing the chart, and offers the nearest memento first", () => {
    const datetimes = [20050101000000, 20150101000000, 20990101000000];
    const page = timeline([], streamOf(["hit", "error"], datetimes));
    expect(page).toContain("from 1 Jan 2005 to 1 Jan 2015");
    expect(page).toContain("1 memento has an implausible date");
    expect(page).toContain('datetime="2015-01-01T00:00:00.000Z"');
    expect(page.indexOf("Open in the archive")).toBeLessThan(page.indexOf("Archive 1"));
  });
});
