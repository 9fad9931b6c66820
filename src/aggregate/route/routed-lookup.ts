import { surtKey } from "../../surt/key.ts";
import { surt } from "../../surt/uri-to-surt.ts";
import type { Learner } from "../learn/learner.ts";
import type { Archive } from "./archive.ts";
import { looksLikePageRequisite } from "./referer.ts";

const encoder = new TextEncoder();

/** What the decisions of one lookup share. Nothing of it is computed before it is needed. */
export class RoutedLookup {
  readonly uri: string;
  readonly #learner: Learner | undefined;
  #surt: string | undefined;
  #page: string | undefined;

  constructor(uri: string, learner?: Learner) {
    this.uri = uri;
    this.#learner = learner;
  }

  /** The SURT of the URI, with its query. */
  get surt(): string {
    return (this.#surt ??= surt(this.uri));
  }

  /** The key of the page; undefined for what pages are made of. */
  get page(): string | undefined {
    this.#page ??= looksLikePageRequisite(this.uri) ? "" : surtKey(this.surt);
    return this.#page === "" ? undefined : this.#page;
  }

  /** What was learnt of an archive that bears on the URI. */
  explain({ id }: Archive): string {
    const learner = this.#learner;
    const number = learner?.numberOf(id) ?? -1;
    if (learner === undefined || number < 0) return "the archive is not in the list any more";
    learner.look(encoder.encode(this.surt));
    return learner.explain(number).reason;
  }
}
