import type { Bus } from "../../files/processes/bus.ts";
import { FifoQueue } from "./limits.ts";

/*
 * Where several processes ask an archive that few requests are allowed to, dividing its limits would
 * leave a process with nothing while another has more than it needs. The primary process hands out
 * turns instead, in the order they are asked for: one message for each request both ways, which is
 * little beside a limit that is small.
 */

/** What the archive allows all processes together. */
export interface SharedLimits {
  /** Requests under way at once. */
  readonly concurrency: number;
  /** Requests begun in a second; undefined for any number. */
  readonly rate: number | undefined;
}

/** From a process that asks. */
export interface TurnRequest extends SharedLimits {
  readonly archive: string;
  /** `want`: one more turn; `done`: one has ended; `unused`: one is given back. */
  readonly what: "want" | "done" | "unused";
}

/** To a process that asked for a turn. */
export interface TurnGrant {
  readonly archive: string;
}

export const TURNS_TOPIC = "turns";

/** The turns of one archive, as a process has them. */
export class TurnSource {
  readonly #archive: string;
  readonly #bus: Bus;
  readonly #limits: SharedLimits;

  constructor(archive: string, limits: SharedLimits, bus: Bus) {
    this.#archive = archive;
    this.#limits = limits;
    this.#bus = bus;
  }

  tell(what: TurnRequest["what"]): void {
    const request: TurnRequest = { archive: this.#archive, ...this.#limits, what };
    this.#bus.publish(TURNS_TOPIC, request);
  }
}

interface ArchiveTurns {
  limits: SharedLimits;
  /** The processes that wait, once for each turn. */
  readonly waiting: FifoQueue<{ readonly process: number }>;
  /** Turns that processes have. */
  readonly held: Map<number, number>;
  nextAt: number;
  timer: NodeJS.Timeout | undefined;
}

/** Hands out turns, in the primary process. */
export class TurnKeeper {
  readonly #grant: (process: number, grant: TurnGrant) => void;
  readonly #now: () => number;
  readonly #archives = new Map<string, ArchiveTurns>();
  readonly #gone = new Set<number>();

  constructor(
    grant: (process: number, grant: TurnGrant) => void,
    now: () => number = () => performance.now(),
  ) {
    this.#grant = grant;
    this.#now = now;
  }

  take(process: number, { archive, what, concurrency, rate }: TurnRequest): void {
    const turns = this.#turnsOf(archive, { concurrency, rate });
    if (what === "want") {
      turns.waiting.push({ process });
    } else {
      const held = turns.held.get(process) ?? 0;
      if (held > 0) turns.held.set(process, held - 1);
      // The rate was kept for a request that was not sent.
      if (what === "unused" && rate !== undefined) turns.nextAt -= 1000 / rate;
    }
    this.#advance(archive, turns);
  }

  /** A process has ended: its turns are free. */
  end(process: number): void {
    this.#gone.add(process);
    for (const [archive, turns] of this.#archives) {
      turns.held.delete(process);
      this.#advance(archive, turns);
    }
  }

  close(): void {
    for (const { timer } of this.#archives.values()) clearTimeout(timer);
  }

  #turnsOf(archive: string, limits: SharedLimits): ArchiveTurns {
    const known = this.#archives.get(archive);
    if (known !== undefined) {
      known.limits = limits;
      return known;
    }
    const turns: ArchiveTurns = {
      limits,
      waiting: new FifoQueue(),
      held: new Map(),
      nextAt: 0,
      timer: undefined,
    };
    this.#archives.set(archive, turns);
    return turns;
  }

  #advance(archive: string, turns: ArchiveTurns): void {
    const { waiting, held, limits } = turns;
    let underWay = 0;
    for (const count of held.values()) underWay += count;
    while (waiting.size > 0 && underWay < limits.concurrency) {
      if (limits.rate !== undefined && this.#now() < turns.nextAt) {
        this.#wakeLater(archive, turns);
        return;
      }
      const next = waiting.shift();
      if (next === undefined || this.#gone.has(next.process)) continue;
      if (limits.rate !== undefined) {
        turns.nextAt = Math.max(this.#now(), turns.nextAt) + 1000 / limits.rate;
      }
      held.set(next.process, (held.get(next.process) ?? 0) + 1);
      underWay += 1;
      this.#grant(next.process, { archive });
    }
  }

  #wakeLater(archive: string, turns: ArchiveTurns): void {
    turns.timer ??= setTimeout(
      () => {
        turns.timer = undefined;
        this.#advance(archive, turns);
      },
      Math.max(1, Math.ceil(turns.nextAt - this.#now())),
    );
  }
}
