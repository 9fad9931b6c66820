import { useEffect, useRef, useState } from "preact/hooks";
import { type MementoChunk, MementoStore } from "./memento-store.ts";

/** One archive as the server tells about it. */
export interface ArchiveProgress {
  readonly id: string;
  readonly name: string;
  readonly isAsked: boolean;
  /** Why it is asked, or not. */
  readonly reason: string;
  readonly key: string | null;
  /** What it answered; undefined while it has not. */
  readonly outcome?: ArchiveOutcome | undefined;
}

interface ArchiveOutcome {
  readonly result: "hit" | "miss" | "error" | "pending";
  readonly mementos: number;
  readonly ms: number;
  /** Where the answer came from, if not from the archive itself. */
  readonly origin: string | null;
  readonly failure: string | null;
  readonly detail: string | null;
}

export interface Mementos {
  readonly store: MementoStore;
  /** Changes with every part that comes. */
  readonly version: number;
  readonly archives: readonly ArchiveProgress[];
  readonly state: "idle" | "asking" | "done" | "failed";
}

interface Decided {
  readonly archives: readonly {
    readonly id: string;
    readonly name: string;
    readonly asked: boolean;
    readonly reason: string;
    readonly key: string | null;
  }[];
}

/** What the server sends, by the names of events. */
interface Events {
  readonly decided: Decided;
  readonly mementos: MementoChunk;
  readonly archive: ArchiveOutcome & { readonly archive: string };
  readonly done: unknown;
}

const IDLE: Mementos = {
  store: new MementoStore(),
  version: 0,
  archives: [],
  state: "idle",
};

/** Parts that come within a tenth of a second are shown together. */
const SHOWN_EVERY_MS = 100;

/** The mementos of a page, as archives answer an aggregator, whose paths begin with `base`. */
export function useMementos(base: string, uri: string): Mementos {
  const [shown, setShown] = useState(IDLE);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => {
    if (uri === "") {
      setShown(IDLE);
      return undefined;
    }
    let now: Mementos = { ...IDLE, store: new MementoStore(), state: "asking" };
    setShown(now);
    const change = (next: Partial<Mementos>): void => {
      now = { ...now, ...next, version: now.version + 1 };
      timer.current ??= setTimeout(() => {
        timer.current = undefined;
        setShown(now);
      }, SHOWN_EVERY_MS);
    };
    const source = new EventSource(`${base}/stream/${encodeURIComponent(uri)}`);
    const listen = <Name extends keyof Events>(
      name: Name,
      take: (data: Events[Name]) => void,
    ): void =>
      source.addEventListener(name, ({ data }) => take(JSON.parse(String(data)) as Events[Name])); // our own server's
    listen("decided", ({ archives }) =>
      change({
        archives: archives.map(({ id, name, asked, reason, key }) => ({
          id,
          name,
          isAsked: asked,
          reason,
          key,
        })),
      }),
    );
    listen("mementos", (chunk) => {
      now.store.add(chunk);
      change({});
    });
    listen("archive", ({ archive, ...outcome }) =>
      change({
        archives: now.archives.map((each) => (each.id === archive ? { ...each, outcome } : each)),
      }),
    );
    listen("done", () => {
      source.close();
      change({ state: "done" });
    });
    source.addEventListener("error", () => {
      // Asking again by itself would bother every archive.
      source.close();
      change({ state: "failed" });
    });
    return () => {
      source.close();
      clearTimeout(timer.current);
      timer.current = undefined;
    };
  }, [base, uri]);
  return shown;
}
