import { useEffect, useState } from "preact/hooks";
import type { ArchiveDecision } from "../find/ask.ts";
import { type Memento, type MementoChunk, mementosOf } from "./memento.ts";

/** The outcome of the request to an archive. */
interface ArchiveOutcome {
  readonly result: "hit" | "miss" | "error" | "pending";
  readonly mementos: number;
  readonly failure: string | null;
  readonly detail: string | null;
}

/** An archive, whether and why it is queried, and its outcome when known. */
export interface ArchiveProgress extends ArchiveDecision {
  readonly outcome?: ArchiveOutcome | undefined;
}

export interface MementoStream {
  /** Oldest first. */
  readonly mementos: readonly Memento[];
  readonly archives: readonly ArchiveProgress[];
  /** `idle` until the script starts the request. */
  readonly state: "idle" | "asking" | "done" | "failed";
}

/** Data of server-sent events, by event name. */
interface Events {
  readonly decided: { readonly archives: readonly ArchiveDecision[] };
  readonly mementos: MementoChunk;
  readonly archive: ArchiveOutcome & { readonly archive: string };
  readonly done: unknown;
}

const IDLE: MementoStream = { mementos: [], archives: [], state: "idle" };

/** Events within a tenth of a second are rendered together. */
const DRAWN_EVERY_MS = 100;

/** Streams the mementos of a page from the aggregator at `base`. */
export function useMementos(base: string, uri: string): MementoStream {
  const [stream, setStream] = useState(IDLE);
  useEffect(() => {
    let now: MementoStream = { ...IDLE, state: "asking" };
    let timer: ReturnType<typeof setTimeout> | undefined;
    setStream(now);
    const change = (next: Partial<MementoStream>): void => {
      now = { ...now, ...next };
      timer ??= setTimeout(() => {
        timer = undefined;
        now = { ...now, mementos: now.mementos.toSorted((a, b) => a.time - b.time) };
        setStream(now);
      }, DRAWN_EVERY_MS);
    };
    const source = new EventSource(`${base}/stream/${encodeURIComponent(uri)}`);
    const end = (state: MementoStream["state"]): void => {
      source.close();
      change({ state });
    };
    const listen = <Name extends keyof Events>(
      name: Name,
      take: (data: Events[Name]) => void,
    ): void =>
      source.addEventListener(name, ({ data }) => take(JSON.parse(String(data)) as Events[Name])); // our own server's
    listen("decided", ({ archives }) => change({ archives }));
    listen("mementos", (chunk) => change({ mementos: [...now.mementos, ...mementosOf(chunk)] }));
    listen("archive", ({ archive, ...outcome }) =>
      change({
        archives: now.archives.map((each) => (each.id === archive ? { ...each, outcome } : each)),
      }),
    );
    listen("done", () => end("done"));
    // Reconnecting would query every archive again.
    source.addEventListener("error", () => end("failed"));
    return () => {
      source.close();
      clearTimeout(timer);
    };
  }, [base, uri]);
  return stream;
}
