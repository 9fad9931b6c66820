import { useEffect, useRef, useState } from "preact/hooks";
import type { MapChild, SliceOptions } from "../../src/maps/explore/map-slice.ts";
import type { OnProgress } from "../maps/map-worker.ts";
import type { Holdings } from "../maps/served-slice.ts";

export interface SliceSource {
  readonly load: (options: SliceOptions, onProgress: OnProgress) => Promise<Holdings>;
  readonly prefix: string;
  readonly search: string;
}

/** Searches continue automatically until they have this many results, or reach the end. */
const WANTED = 50;

/** The part at a prefix, or its search results. The previous slice stays until the next is loaded. */
export function useSlice({ prefix, search, load }: SliceSource): {
  readonly slice: Holdings | undefined;
  readonly fault: string | undefined;
  readonly progress: number | undefined;
  readonly isLoading: boolean;
  readonly more: () => void;
} {
  const [slice, setSlice] = useState<Holdings>();
  const [fault, setFault] = useState<string>();
  const [progress, setProgress] = useState<number>();
  const [isLoading, setLoading] = useState(false);
  const calls = useRef(0);
  const get = async (from: string | null, before: readonly MapChild[]): Promise<void> => {
    const call = ++calls.current;
    const options =
      search === "" ? { prefix, depth: 3, limit: 200 } : { prefix, search, limit: WANTED };
    let children = before;
    let next = from;
    setFault(undefined);
    setLoading(true);
    try {
      do {
        const found = await load(
          { ...options, ...(next === null ? {} : { from: next }) },
          setProgress,
        );
        if (call !== calls.current) return;
        setProgress(undefined);
        if (found.form === "text") {
          children = [...children, ...found.children];
          next = found.next;
        }
        setSlice(found.form === "text" ? { ...found, children } : found);
      } while (search !== "" && next !== null && children.length < before.length + WANTED);
    } catch (error) {
      if (call === calls.current) setFault(error instanceof Error ? error.message : String(error));
    } finally {
      if (call === calls.current) setLoading(false);
    }
  };
  useEffect(() => void get(null, []), [prefix, search]);
  const more = (): void => {
    if (slice?.form === "text") void get(slice.next, slice.children);
  };
  return { slice, fault, progress, isLoading, more };
}
