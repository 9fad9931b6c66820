import type { ComponentChild, JSX } from "preact";
import { pastedAddress } from "../../src/http/original-uri.ts";
import { Progress, Timeline } from "../time/timeline.tsx";
import { useMementos } from "../time/use-mementos.ts";
import timeStyle from "../time/time.css?inline";
import { PageElement } from "./page-element.ts";
import { shadowSheet } from "./shadow-style.ts";

const SHEET = shadowSheet(timeStyle);

/**
 * `<memento-timeline url="https://example.org/" aggregator="https://aggregator.example/">`: the
 * mementos of a page over time, as archives answer. Without `aggregator`, the site that the script
 * comes from is asked. `datetime` is the moment that is chosen at first.
 */
export class MementoTimeline extends PageElement {
  static readonly observedAttributes: readonly string[] = ["url", "aggregator", "datetime", "lang"];

  constructor() {
    super(SHEET);
  }

  protected content(): ComponentChild {
    const url = this.attribute("url");
    const uri = url === undefined ? "" : pastedAddress(url).uri;
    const base = new URL(this.attribute("aggregator") ?? SITE, document.baseURI).href;
    const at = this.attribute("datetime");
    // Another page begins anew, also in what is chosen.
    return (
      <EmbeddedTimeline key={`${uri} ${base}`} uri={uri} base={base.replace(/\/$/, "")} at={at} />
    );
  }
}

/** The site that has this script in its `page/`. */
const SITE = import.meta.url.slice(0, import.meta.url.lastIndexOf("/page/") + 1);

function EmbeddedTimeline(props: {
  readonly uri: string;
  readonly base: string;
  readonly at: string | undefined;
}): JSX.Element | null {
  const { uri, base, at } = props;
  const mementos = useMementos(base, uri);
  if (uri === "") return null;
  return (
    <div>
      <Progress mementos={mementos} />
      {mementos.archives.length > 0 && (
        <Timeline uri={uri} mementos={mementos} base={base} at={at} />
      )}
    </div>
  );
}
