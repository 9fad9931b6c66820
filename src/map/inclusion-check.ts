import { quote } from "../errors.ts";
import type { Count } from "../ukvs/frequency.ts";
import { type Fault, fault } from "./fault.ts";

/** Exclusions remembered until it is known whether they exclude anything. */
const MAX_PENDING = 10_000;

interface Exclusion {
  readonly line: number;
  readonly key: string;
}

/** A host or path of the map, with what is known about everything below it. */
interface Node {
  /** What all keys below begin with; empty for the whole archive. */
  readonly text: string;
  readonly parent: Node | undefined;
  readonly isHost: boolean;
  /** The least number of mementos that the rows below state, the wildcard's own left out. */
  included: number;
  wildcard: { readonly line: number; readonly count: Count | undefined } | undefined;
  /** Whether a wildcard here says present. */
  isPresent: boolean;
  /** Exclusions with nothing present above them, so far. */
  readonly pending: Exclusion[];
}

/**
 * Checks what rows say about each other: wildcards include what is below them, and exclusions need
 * something to be excluded from.
 *
 * Takes the rows of a sorted map one by one. Holds one node per level of the current key, as the
 * compaction does: a node is open as long as keys begin with its text, because the rows below a
 * path do not all stand together (`/a`, `/a-b`, `/a/b`).
 */
export class InclusionCheck {
  readonly #open: Node[] = [newNode("", undefined, true)];
  readonly #faults: Fault[] = [];
  #pendingCount = 0;
  #uncheckedCount = 0;

  /** Takes a row with its memento count; undefined when that is unknown. */
  add(line: number, key: string, count: Count | undefined): void {
    this.#closeUnless(key);
    const isZero = count?.value === 0;
    if (key === "*") {
      this.#open[0].wildcard = { line, count };
    } else if (isSpread(key)) {
      // It covers one path on many hosts: part of many sums, and the whole of none.
      if (!isZero) this.#node(key.slice(0, key.indexOf(",*)"))).isPresent = true;
    } else if (key.endsWith(",*") || key.endsWith("/*")) {
      const node = this.#node(key.slice(0, -2));
      node.wildcard = { line, count };
      if (isZero) this.#exclude(node.parent, { line, key });
      else node.isPresent = true;
    } else {
      const node = this.#node(pageText(key));
      if (isZero) this.#exclude(node, { line, key });
      else if (!key.includes("?")) node.included += atLeast(count);
    }
  }

  /** The faults that became certain since the last call. */
  take(): Fault[] {
    return this.#faults.splice(0);
  }

  /** The faults that become certain at the end of the map. */
  finish(lastLine: number): Fault[] {
    while (this.#open.length > 0) this.#close();
    if (this.#uncheckedCount > 0) {
      this.#faults.push(
        fault(
          lastLine,
          "idle-exclusion",
          `${this.#uncheckedCount} more exclusions may exclude nothing; they were too many to check`,
        ),
      );
    }
    return this.take();
  }

  #exclude(from: Node | undefined, exclusion: Exclusion): void {
    if (from === undefined || isPresentAbove(from)) return;
    if (this.#pendingCount >= MAX_PENDING) {
      this.#uncheckedCount++;
      return;
    }
    from.pending.push(exclusion);
    this.#pendingCount++;
  }

  /** The open node of a text, opened with all above it if need be. */
  #node(text: string): Node {
    const open = this.#open.findLast(
      (node) => node.text.length <= text.length && node.text === text,
    );
    if (open !== undefined) return open;
    const parent = this.#node(textAbove(text));
    const node = newNode(text, parent, !text.includes(")"));
    this.#open.push(node);
    return node;
  }

  #closeUnless(key: string): void {
    for (;;) {
      const last = this.#open.at(-1);
      if (last === undefined || key.startsWith(last.text)) return;
      this.#close();
    }
  }

  #close(): void {
    const node = this.#open.pop();
    if (node === undefined) return;
    this.#checkCount(node);
    if (node.parent !== undefined) node.parent.included += contribution(node);
    this.#settle(node);
  }

  #checkCount({ text, wildcard, included }: Node): void {
    const count = wildcard?.count;
    if (wildcard === undefined || count === undefined || count.value === 0) return;
    if (count.bound === "atLeast" || count.bound === "about" || count.value >= included) return;
    const [code, key] =
      text === ""
        ? (["total-too-small", "*"] as const)
        : (["wildcard-too-small", text.includes(")") ? `${text}/*` : `${text},*`] as const);
    this.#faults.push(
      fault(
        wildcard.line,
        code,
        `key ${quote(key)} states ${count.value} mementos, but the keys it includes state ${included}`,
      ),
    );
  }

  /** Decides about the exclusions of a node that closes, or leaves them to the node above. */
  #settle(node: Node): void {
    if (node.pending.length === 0) return;
    const { parent } = node;
    if (node.isPresent || (parent !== undefined && isPresentAbove(parent))) {
      this.#pendingCount -= node.pending.length;
      return;
    }
    // `X,*` comes before what is below X but after the paths of X, and after labels that begin
    // with one of the few characters below `*`.
    if (parent !== undefined && (!node.isHost || isBeforeStar(node, parent))) {
      parent.pending.push(...node.pending);
      return;
    }
    for (const { line, key } of node.pending) {
      this.#faults.push(
        fault(
          line,
          "idle-exclusion",
          `key ${quote(key)} excludes nothing: no wider key is present`,
        ),
      );
    }
    this.#pendingCount -= node.pending.length;
  }
}

function newNode(text: string, parent: Node | undefined, isHost: boolean): Node {
  return { text, parent, isHost, included: 0, wildcard: undefined, isPresent: false, pending: [] };
}

function isPresentAbove(from: Node): boolean {
  for (let node: Node | undefined = from; node !== undefined; node = node.parent) {
    if (node.isPresent) return true;
  }
  return false;
}

function isBeforeStar(node: Node, parent: Node): boolean {
  const label = parent.text === "" ? node.text : node.text.slice(parent.text.length + 1);
  return parent.text !== "" && label < "*";
}

/** What a closed node adds to the one above: its wildcard speaks for all below. */
function contribution({ wildcard, included }: Node): number {
  const count = wildcard?.count;
  if (count === undefined || count.value === 0) return included;
  return count.bound === "exact" ? count.value : Math.max(included, atLeast(count));
}

function atLeast(count: Count | undefined): number {
  return count !== undefined && (count.bound === "exact" || count.bound === "atLeast")
    ? count.value
    : 0;
}

function isSpread(key: string): boolean {
  const star = key.indexOf(",*)");
  return star >= 0 && key.indexOf(")") === star + 2;
}

/** The text of the node of a page: without its query, and of a home page its whole host. */
function pageText(key: string): string {
  const query = key.indexOf("?");
  const page = query < 0 ? key : key.slice(0, query);
  return page.endsWith(")/") && page.indexOf(")") === page.length - 2 ? page.slice(0, -1) : page;
}

/** `com,a)/b/c`, `com,a)/b`, `com,a)`, `com,a`, `com`, nothing. */
function textAbove(text: string): string {
  const paren = text.indexOf(")");
  if (paren < 0) return text.slice(0, Math.max(0, text.lastIndexOf(",")));
  const slash = text.lastIndexOf("/");
  return slash > paren ? text.slice(0, slash) : text.slice(0, paren);
}
