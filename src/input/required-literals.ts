/** Shorter ones stand in nearly every text. */
const LEAST_LENGTH = 3;

/**
 * Texts of which a string must have at least one, in whatever case, for a regular expression to
 * match it; undefined if none can be told. Short cuts use it: most strings have none of them.
 *
 * Reads a subset of the syntax, without the flags `u` and `v`, and gives up on everything else.
 */
export function requiredLiterals(pattern: string): readonly string[] | undefined {
  const literals = new Reader(pattern).read();
  const areLong = literals?.every((literal) => literal.length >= LEAST_LENGTH) ?? false;
  return areLong ? literals : undefined;
}

type Literals = readonly string[] | undefined;

/** Stands for syntax that is not understood. */
class Unread extends Error {}

class Reader {
  readonly #pattern: string;
  #at = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  read(): Literals {
    try {
      const literals = this.#alternatives();
      return this.#at === this.#pattern.length ? literals : undefined;
    } catch (error) {
      if (error instanceof Unread) return undefined;
      throw error;
    }
  }

  /** Any of the alternatives may be the one that matches: each must have a literal. */
  #alternatives(): Literals {
    const all = [this.#sequence()];
    while (this.#skip("|")) all.push(this.#sequence());
    return all.every((literals) => literals !== undefined) ? all.flat() : undefined;
  }

  /** All parts of a sequence must match: the part with the longest literals tells most. */
  #sequence(): Literals {
    let best: Literals;
    let run = "";
    const offer = (literals: Literals): void => {
      if (literals !== undefined && shortest(literals) > shortest(best ?? [])) best = literals;
    };
    const endRun = (): void => {
      offer([run]);
      run = "";
    };
    while (this.#at < this.#pattern.length && !"|)".includes(this.#pattern[this.#at])) {
      const { literals, text } = this.#atom();
      const [least, most] = this.#quantifier();
      if (text === undefined || least === 0) endRun();
      else run += text;
      if (text !== undefined && most > 1) endRun();
      if (text === undefined && least > 0) offer(literals);
    }
    endRun();
    return best;
  }

  /** A character that stands for itself, or something else that may have literals in it. */
  #atom(): { text?: string; literals?: Literals } {
    const first = this.#pattern[this.#at++];
    if (first === "(") return { literals: this.#group() };
    if (first === "[") return this.#class();
    if (first === "\\") return this.#escape();
    if ("^$.".includes(first)) return {};
    if ("*+?{}])".includes(first)) throw new Unread();
    return { text: asLiteral(first) };
  }

  #group(): Literals {
    const isPlain = !this.#skip("?") || this.#skip(":");
    // Of what is looked ahead or behind for, and of names, nothing is read.
    if (!isPlain) throw new Unread();
    const literals = this.#alternatives();
    if (!this.#skip(")")) throw new Unread();
    return literals;
  }

  #class(): Record<string, never> {
    const end = /^(?:\\.|[^\\\]])*\]/s.exec(this.#pattern.slice(this.#at));
    if (end === null) throw new Unread();
    this.#at += end[0].length;
    return {};
  }

  #escape(): { text?: string } {
    const escaped = this.#pattern[this.#at++] ?? "";
    if (/^[dDwWsSbBtnrfv]$/.test(escaped)) return {};
    if (!/^[^\w\s]$/.test(escaped)) throw new Unread();
    return { text: asLiteral(escaped) };
  }

  #quantifier(): readonly [least: number, most: number] {
    const found = /^(?:[*+?]|\{(\d+)(?:(,)(\d*))?\})\??/.exec(this.#pattern.slice(this.#at));
    if (found === null) return [1, 1];
    this.#at += found[0].length;
    const [text, least, comma, most] = found;
    if (text.startsWith("{")) {
      const atMost = comma === undefined ? least : most === "" ? Infinity : most;
      return [Number(least), Number(atMost)];
    }
    return [text.startsWith("+") ? 1 : 0, text.startsWith("?") ? 1 : Infinity];
  }

  #skip(text: string): boolean {
    if (!this.#pattern.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }
}

function shortest(literals: readonly string[]): number {
  return literals.length === 0 ? 0 : Math.min(...literals.map((literal) => literal.length));
}

/** Only of printable ASCII is it plain which bytes it matches. */
function asLiteral(character: string): string {
  if (!/^[\x20-\x7e]$/.test(character)) throw new Unread();
  return character.toLowerCase();
}
