import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { PAGE } from "../page-data.ts";
import { Progress, Timeline } from "./timeline.tsx";
import { useMementos } from "./use-mementos.ts";

/** Browsers refuse to change the address more than some hundred times in half a minute. */
const SETTLED_MS = 250;

/** The mementos of a page in all archives of the aggregator, as they answer. */
export function Mementos(props: {
  readonly uri: string;
  readonly at: string | undefined;
  readonly onChoose: (moment: string) => void;
}): JSX.Element {
  const { uri, at, onChoose } = props;
  const mementos = useMementos(PAGE.base, uri);
  const settling = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(settling.current), []);
  const keep = (moment: string): void => {
    clearTimeout(settling.current);
    settling.current = setTimeout(() => onChoose(moment), SETTLED_MS);
  };
  return (
    <>
      <section class="card">
        <Progress mementos={mementos} />
      </section>
      <noscript>
        <p class="card">
          <a href={`${PAGE.base}/timemap/link/${uri}`}>TimeMap</a>
        </p>
      </noscript>
      {mementos.archives.length > 0 && (
        <Timeline uri={uri} mementos={mementos} base={PAGE.base} at={at} onChoose={keep} />
      )}
    </>
  );
}
