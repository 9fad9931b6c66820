import type { ComponentChild } from "preact";
import { pastedAddress } from "../../src/http/original-uri.ts";
import { Mementos } from "../time/mementos.tsx";
import timeStyle from "../time/time.css?inline";
import { PageElement } from "./page-element.ts";
import { shadowSheet } from "./shadow-style.ts";

const SHEET = shadowSheet(timeStyle);

/**
 * `<memento-timeline url="https://example.org/" aggregator="https://aggregator.example/">`: the
 * mementos of a page over time, added as archives respond. `aggregator` defaults to the site that serves
 * the script. `datetime` is the initial selection.
 */
export class MementoTimeline extends PageElement {
  static readonly observedAttributes: readonly string[] = ["url", "aggregator", "datetime", "lang"];

  constructor() {
    super(SHEET);
  }

  protected content(): ComponentChild {
    const url = this.attribute("url");
    if (url === undefined) return null;
    const { uri } = pastedAddress(url);
    const { href } = new URL(this.attribute("aggregator") ?? SITE, document.baseURI);
    const base = href.replace(/\/$/, "");
    // A new URL resets the timeline, including the selection.
    return (
      <Mementos key={`${uri} ${base}`} uri={uri} base={base} at={this.attribute("datetime")} />
    );
  }
}

/** The site that serves this script from its `page/`. */
const SITE = import.meta.url.slice(0, import.meta.url.lastIndexOf("/page/") + 1);
