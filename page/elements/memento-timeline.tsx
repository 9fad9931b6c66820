import type { ComponentChild } from "preact";
import { pastedAddress } from "../../src/http/original-uri.ts";
import { Mementos } from "../time/mementos.tsx";
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
    if (url === undefined) return null;
    const { uri } = pastedAddress(url);
    const { href } = new URL(this.attribute("aggregator") ?? SITE, document.baseURI);
    const base = href.replace(/\/$/, "");
    // Another page begins anew, also in what is chosen.
    return (
      <Mementos key={`${uri} ${base}`} uri={uri} base={base} at={this.attribute("datetime")} />
    );
  }
}

/** The site that has this script in its `page/`. */
const SITE = import.meta.url.slice(0, import.meta.url.lastIndexOf("/page/") + 1);
