import { uriKey } from "../../surt/key.ts";

const DEFAULT_SIZE = 10_000;
/** Longer ones are not remembered, so that nobody can make this large. */
const MAX_KEY_LENGTH = 1024;

/** Remembers which archives answered for pages, those asked for last; a few hundred bytes a page. */
export class AnsweredPages {
  readonly #size: number;
  /** In order of use: a `Map` keeps the order of insertion. */
  readonly #archives = new Map<string, readonly string[]>();

  constructor(size: number = DEFAULT_SIZE) {
    this.#size = size;
  }

  /** An archive had mementos of a page. */
  note(page: string, archiveId: string): void {
    const key = uriKey(page);
    if (key.length > MAX_KEY_LENGTH) return;
    const known = this.#archives.get(key) ?? [];
    this.#archives.delete(key);
    this.#archives.set(key, known.includes(archiveId) ? known : [...known, archiveId]);
    if (this.#archives.size <= this.#size) return;
    const [oldest] = this.#archives.keys();
    if (oldest !== undefined) this.#archives.delete(oldest);
  }

  /** The ids of the archives that had mementos of a page, as far as is remembered. */
  archivesOf(page: string): readonly string[] {
    return this.#archives.get(uriKey(page)) ?? [];
  }
}
