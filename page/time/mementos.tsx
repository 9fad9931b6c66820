import type { JSX } from "preact";
import { useText } from "../text.ts";
import { Timeline } from "./timeline.tsx";
import { type MementoStream, useMementos } from "./use-mementos.ts";

/** The mementos of a page in all archives of an aggregator, shown as responses arrive. */
export function Mementos(props: {
  readonly uri: string;
  /** The base path of the aggregator. */
  readonly base: string;
  /** The time selected initially. */
  readonly at: string | undefined;
  readonly onChoose?: (at: string) => void;
}): JSX.Element {
  const { uri, base } = props;
  const stream = useMementos(base, uri);
  return (
    <>
      {stream.state !== "idle" && (
        <section class="card">
          <Progress stream={stream} />
        </section>
      )}
      <noscript>
        <p class="card">
          <a href={`${base}/timemap/link/${uri}`}>TimeMap</a>
        </p>
      </noscript>
      {stream.archives.length > 0 && <Timeline {...props} stream={stream} />}
    </>
  );
}

/** A summary line of responses, and the conclusion if there are no mementos. */
export function Progress({ stream }: { readonly stream: MementoStream }): JSX.Element {
  const text = useText("time");
  const { archives, state, mementos } = stream;
  const queried = archives.filter((archive) => archive.asked);
  const results = queried.flatMap(({ outcome }) => outcome?.result ?? []);
  const answered = results.filter((result) => result === "hit" || result === "miss").length;
  const failed = results.length - answered;
  const counts = [
    ["unanswered", failed],
    ["pending", queried.length - results.length],
    ["skipped", archives.length - queried.length],
  ] as const;
  const parts = [
    text.count("mementos", mementos.length),
    text.count("answered", answered),
    ...counts.flatMap(([stem, count]) => (count > 0 ? [text.count(stem, count)] : [])),
  ];
  return (
    <>
      <p role="status" class="progress-line headline">
        {archives.length === 0 && state === "asking" ? text("asking") : parts.join(" · ")}
      </p>
      <progress
        aria-label={text("asking")}
        class={state === "asking" ? "" : "is-over"}
        max={Math.max(1, queried.length)}
        value={results.length}
      />
      {state === "failed" && (
        <p class="fault" role="alert">
          {text("failed")}
        </p>
      )}
      {state === "done" && mementos.length === 0 && (
        <p class="hint">
          {failed === 0
            ? text("none")
            : answered === 0
              ? text("unknown")
              : text.count("noneFailed", failed)}
        </p>
      )}
    </>
  );
}
