import type { ComponentChild, JSX } from "preact";
import { useState } from "preact/hooks";
import type { SliceOptions } from "../../src/maps/explore/map-slice.ts";
import { Explorer } from "../explore/explorer.tsx";
import exploreStyle from "../explore/explore.css?inline";
import { type Holdings, servedSlice } from "../maps/served-slice.ts";
import { callWorker } from "../maps/worker-client.ts";
import mapStyle from "../maps/maps.css?inline";
import { PageElement } from "./page-element.ts";
import { shadowSheet } from "./shadow-style.ts";

const SHEET = shadowSheet(mapStyle, exploreStyle);

/**
 * `<mementomap-explorer src="https://archive.example/explore?map=ID">`: what a map holds. An address
 * whose path ends in `/explore` is asked for slices, as `serve` gives them; any other is a map, which
 * is fetched whole and read in the browser. `prefix` is the part that is shown at first.
 */
export class MementoMapExplorer extends PageElement {
  static readonly observedAttributes: readonly string[] = ["src", "prefix", "lang"];

  constructor() {
    super(SHEET);
  }

  protected content(): ComponentChild {
    const named = this.attribute("src");
    if (named === undefined) return null;
    const source = new URL(named, document.baseURI).href;
    const prefix = this.attribute("prefix") ?? "";
    return <EmbeddedExplorer key={`${source} ${prefix}`} source={source} first={prefix} />;
  }
}

function EmbeddedExplorer(props: { readonly source: string; readonly first: string }): JSX.Element {
  const { source, first } = props;
  const [place, setPlace] = useState({ prefix: first, search: "" });
  return (
    <Explorer
      source={source}
      name={source}
      load={(options, onProgress) => loadSlice(source, options, onProgress)}
      prefix={place.prefix}
      search={place.search}
      onGo={(prefix, search = "") => setPlace({ prefix, search })}
      hrefOf={() => undefined}
    />
  );
}

/** Maps that are open in the worker, by their addresses. */
const opened = new Map<string, Promise<unknown>>();

async function loadSlice(
  source: string,
  { signal, ...options }: SliceOptions,
  onProgress: (share: number) => void,
): Promise<Holdings> {
  const url = new URL(source);
  if (url.pathname.endsWith("/explore")) return servedSlice(url, options, signal);
  let opening = opened.get(source);
  if (opening === undefined) {
    opening = callWorker({ kind: "open", map: source, source }, onProgress);
    opened.set(source, opening);
    opening.catch(() => opened.delete(source));
  }
  await opening;
  return callWorker<Holdings>({ kind: "explore", map: source, options });
}
