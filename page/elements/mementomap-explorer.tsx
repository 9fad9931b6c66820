import type { ComponentChild, JSX } from "preact";
import { useState } from "preact/hooks";
import type { SliceOptions } from "../../src/maps/explore/map-slice.ts";
import { Explorer } from "../explore/explorer.tsx";
import exploreStyle from "../explore/explore.css?inline";
import type { OnProgress } from "../maps/map-worker.ts";
import { type Holdings, servedSlice } from "../maps/served-slice.ts";
import { inWorker, openOnce } from "../maps/worker-client.ts";
import mapStyle from "../maps/maps.css?inline";
import { PageElement } from "./page-element.ts";
import { shadowSheet } from "./shadow-style.ts";

const SHEET = shadowSheet(mapStyle, exploreStyle);

/**
 * `<mementomap-explorer src="https://archive.example/explore?map=ID">`: the holdings of a map. If
 * the path ends in `/explore`, slices are requested from it (see `serve`); any other address is a map,
 * which is fetched whole and read in the browser. `prefix` is the part shown initially.
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
      name={source}
      load={(options, onProgress) => loadSlice(source, options, onProgress)}
      prefix={place.prefix}
      search={place.search}
      onGo={(prefix, search = "") => setPlace({ prefix, search })}
      hrefOf={() => undefined}
    />
  );
}

async function loadSlice(
  source: string,
  options: SliceOptions,
  onProgress: OnProgress,
): Promise<Holdings> {
  const url = new URL(source);
  if (url.pathname.endsWith("/explore")) return servedSlice(url, options);
  await openOnce(source, source, onProgress);
  return inWorker<Holdings>((worker) => worker.explore(source, options));
}
