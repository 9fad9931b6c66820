import { surtKey } from "../../surt/key.ts";
import { surt } from "../../surt/uri-to-surt.ts";
import type { Learner } from "../learn/learner.ts";
import type { Archive } from "./archive.ts";
import { looksLikePageRequisite } from "./referer.ts";

/** What the decisions of one lookup share. Nothing of it is computed before it is needed. */
export class RoutedLookup {
  readonly uri: string;
  readonly #learner: Learner | undefined;
  /** The network of the client; undefined for the operator's own. */
  readonly network: string | undefined;
  /** Whether answers teach more than what an archive has of this original. */
  isTeaching = true;
  #surt: string | undefined;
  #page: string | undefined;

  constructor(uri: string, learner?: Learner, network?: string) {
    this.uri = uri;
    this.#learner = learner;
    this.network = network;
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
    learner.look(this.surt);
    return learner.explain(number).reason;
  }
}
