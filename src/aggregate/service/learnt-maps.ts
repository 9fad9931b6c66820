import { existsSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { internalFault } from "../../errors.ts";
import { makeFolder } from "../../files/make-folder.ts";
import { withOutput } from "../../files/output-file.ts";
import { packageVersion } from "../../files/package-file.ts";
import { withTempDir } from "../../files/scratch.ts";
import { packMap } from "../../map/pack/pack-files.ts";
import { createPublisher, type Publisher } from "../../publish/serve/publisher.ts";
import { GrowthTimer } from "../learn/growth-timer.ts";
import type { Learner } from "../learn/learner.ts";
import { learntMap } from "../learn/learnt-map.ts";
import { type Archive, homeOf } from "../route/archive.ts";

/** How what was learnt is shared. */
export interface LearntMapsOptions {
  /** Where the maps are kept. */
  readonly folder: string;
  readonly learner: Learner;
  /** As the list has them now. */
  readonly archives: () => readonly Archive[];
  /** Whether this process writes the maps; others publish those that it finds. Default true. */
  readonly isWriting?: boolean | undefined;
  readonly onFault?: ((message: string, reason: string) => void) | undefined;
}

/** A minute apart in the beginning, and a day at most. */
const WRITE_EVERY_MS = 60_000;
const WRITE_AT_LEAST_MS = 86_400_000;
/** How often to look for maps that another process wrote. */
const LOOK_EVERY_MS = 10_000;
/** One name in 256 that is not in a packed map is taken for one that is. */
const PACKED_BITS = 8;

const TEXT = ".ukvs";
const PACKED = ".packed";

/**
 * Publishes what was learnt of archives as maps, in text and packed: for other aggregators to begin with.
 *
 * The maps are files, so that all processes of a service publish the same. One of them writes them:
 * whenever a tenth more is known, and each day.
 */
export class LearntMaps {
  readonly #options: LearntMapsOptions;
  readonly #writing: GrowthTimer | undefined;
  readonly #looking: NodeJS.Timeout;
  #publisher: Publisher | undefined;
  /** The names of the maps that are published. */
  #names = "";
  #opening: Promise<void> | undefined;

  constructor(options: LearntMapsOptions) {
    const { learner, isWriting = true } = options;
    this.#options = options;
    this.#looking = setInterval(() => void this.refresh(), LOOK_EVERY_MS).unref();
    if (!isWriting) return;
    const timing = { everyMs: WRITE_EVERY_MS, mostMs: WRITE_AT_LEAST_MS };
    const answers = (): number => learner.observations;
    this.#writing = new GrowthTimer({ ...timing, answers, work: () => this.#write() }, true);
  }

  /** Writes what is known now, if anything is new, and publishes it. */
  async write(): Promise<void> {
    await this.#writing?.flush();
    await this.refresh();
  }

  /** Publishes the maps that are there now. */
  async refresh(): Promise<void> {
    this.#opening ??= this.#open()
      .catch((error: unknown) => this.#report("maps of what was learnt are not published", error))
      .finally(() => {
        this.#opening = undefined;
      });
    await this.#opening;
  }

  /**
   * Answers a request for `/maps` or `/maps/{id}`; false where there are no maps.
   *
   * @param prefix what paths of the service begin with, for links.
   */
  handle(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    prefix: string,
  ): boolean {
    return this.#publisher?.handleBelow(request, response, { path, prefix }) ?? false;
  }

  /** The links to the maps, as a header has them; undefined where there are none. */
  linkHeader(prefix: string): string | undefined {
    const client = { address: "", protocol: "http", host: undefined, prefix } as const;
    return this.#publisher?.site.linkHeader(client);
  }

  async close(): Promise<void> {
    this.#writing?.stop();
    clearInterval(this.#looking);
    await this.#opening;
    await this.#publisher?.close();
    this.#publisher = undefined;
  }

  async #write(): Promise<boolean> {
    const { folder, learner, archives } = this.#options;
    try {
      await makeFolder(folder);
      for (const [archive, name] of mapNames(archives())) {
        const map = learntMap(learner, archive.id, {
          id: homeOf(archive),
          name: archive.name,
          now: Date.now(),
          generator: `mementomap/${packageVersion()}`,
        });
        const path = join(folder, name);
        if (map !== undefined) await writeBoth(path, map);
        else for (const end of [TEXT, PACKED]) await rm(`${path}${end}`, { force: true });
      }
      return true;
    } catch (error) {
      this.#report("what was learnt is not shared", error);
      return false;
    }
  }

  async #open(): Promise<void> {
    const { folder, archives } = this.#options;
    const files = new Set(existsSync(folder) ? await readdir(folder) : []);
    const names = [...mapNames(archives()).values()].filter((name) => files.has(`${name}${TEXT}`));
    const all = names.join(" ");
    if (all === this.#names) {
      await this.#publisher?.reload();
      return;
    }
    const maps = names.map((id) => {
      const packed = files.has(`${id}${PACKED}`) ? join(folder, `${id}${PACKED}`) : undefined;
      return { id, path: join(folder, `${id}${TEXT}`), packed };
    });
    // What is learnt may become less: prefixes nobody asks for are forgotten.
    const options = { isThirdParty: true, maxShrink: 1, reloadEveryMs: 0 };
    const before = this.#publisher;
    this.#publisher = maps.length === 0 ? undefined : await createPublisher(maps, options);
    this.#names = all;
    await before?.close();
  }

  #report(message: string, error: unknown): void {
    this.#options.onFault?.(message, internalFault(error, "MM_IO").describe());
  }
}

/** Both forms of a map: the packed one first, which then waits for its text. */
async function writeBoth(path: string, map: Uint8Array): Promise<void> {
  const streams = { stdin: process.stdin, stdout: process.stdout };
  await withTempDir({}, async (scratch) => {
    const text = join(scratch, "map");
    await withOutput(text, { ...streams, isScratch: true }, async (output) => output.write(map));
    const { file } = await packMap(text, { bits: PACKED_BITS, scratch, threads: 1, streams });
    await withOutput(`${path}${PACKED}`, streams, async (output) => output.write(file));
  });
  await withOutput(`${path}${TEXT}`, streams, async (output) => output.write(map));
}

/** What the maps of archives are called in addresses: their ids, as far as these can stand there. */
function mapNames(archives: readonly Archive[]): ReadonlyMap<Archive, string> {
  const names = new Map<Archive, string>();
  const used = new Set<string>();
  for (const archive of archives) {
    const plain = archive.id.replaceAll(/[^\w.-]+/g, "-").slice(0, 90);
    let name = plain;
    for (let number = 2; used.has(name); number++) name = `${plain}-${number}`;
    used.add(name);
    names.set(archive, name);
  }
  return names;
}
