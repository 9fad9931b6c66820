import { fileChunks, FileSource } from "../files/input-file.ts";
import { requiredFile } from "../files/package-file.ts";
import { digestOf } from "../files/source-digest.ts";
import { checkSignal } from "../interruption.ts";
import { inTurns, onThread, type Remote, Thread } from "../threads/thread.ts";
import type { Fields } from "../ukvs/header.ts";
import {
  type BuiltPartition,
  type MapNames,
  type NameSelection,
  ShardBuilder,
  type ShardRun,
} from "./build-shards.ts";
import type { FilterPlan, ShardNames } from "./dealt-names.ts";
import { PackedAsker } from "./held-check.ts";
import type { MapPart } from "./map-rows.ts";
import { type RolledUpPart, rollUpPart, type RollUpTask } from "./roll-up-part.ts";
import { scanPart, type ScanResult, type ScanTask } from "./scan-part.ts";

/** The steps of packing that can be done on any thread, most of them in parts. */
export class PackJob {
  #builder: ShardBuilder | undefined;
  #asker: PackedAsker | undefined;
  #chosen: Float64Array = new Float64Array(0);
  #names: MapNames = { partitionBits: 0, parts: [] };

  /** The digest of a file, in hexadecimal. */
  async digest(path: string, name: string): Promise<string> {
    const source = await FileSource.open(path, name);
    try {
      return await digestOf(fileChunks(source));
    } finally {
      await source.close();
    }
  }

  scan(task: ScanTask): ScanResult {
    return scanPart(task);
  }

  /** Says which nodes the next parts are rolled up at. */
  useChosen(chosen: Float64Array): void {
    this.#chosen = chosen;
  }

  /** Rolls up a part at the nodes that `useChosen` named. */
  rollUp(task: Omit<RollUpTask, "chosen">): RolledUpPart {
    return rollUpPart({ ...task, chosen: this.#chosen });
  }

  /** Says which names the next steps are about. */
  useNames(names: MapNames): void {
    this.#names = names;
  }

  count(partition: number, selections: readonly NameSelection[]): number[] {
    return this.#shards.count(this.#names, partition, selections);
  }

  build(
    partition: number,
    selections: readonly NameSelection[],
    filters: readonly FilterPlan[],
  ): BuiltPartition {
    return this.#shards.build(this.#names, partition, selections, filters);
  }

  solve(shards: readonly ShardNames[], bits: number, checkedBits: number): ShardRun {
    return this.#shards.solve(shards, bits, checkedBits);
  }

  /** Says which packed map the next parts are asked for. */
  useFile(file: Uint8Array, source: string): void {
    this.#asker = new PackedAsker(file, source);
  }

  ask(part: MapPart, fields: Fields): number {
    if (this.#asker === undefined) throw new Error("there is no packed map to ask");
    return this.#asker.ask(part, fields);
  }

  get #shards(): ShardBuilder {
    return (this.#builder ??= new ShardBuilder());
  }
}

/** Something that does a share of the work: a thread of its own, or this one. */
export type PackLane = Remote<PackJob>;

/** This thread and others, which share out the work. */
export class PackLanes {
  readonly #threads: readonly Thread[];
  readonly lanes: readonly PackLane[];
  readonly #signal: AbortSignal | undefined;
  #busyUntil: Promise<unknown> = Promise.resolve();

  constructor(threads: number, signal: AbortSignal | undefined) {
    this.#signal = signal;
    this.#threads = Array.from(
      { length: threads - 1 },
      () => new Thread(requiredFile("dist/pack/pack-worker.js"), undefined),
    );
    this.lanes = [
      inTurns(new PackJob()),
      ...this.#threads.map((thread) => onThread<PackJob>(thread)),
    ];
  }

  /** Keeps tasks from this thread as long as it has other work; other lanes take them meanwhile. */
  waitFor(work: Promise<unknown>): void {
    this.#busyUntil = work.catch(() => undefined); // whoever began it meets the error
  }

  /**
   * Does all tasks; each lane takes the next one when it has done one. Gives the results in order.
   *
   * Other threads have one task in advance: this one may be too busy to give them another in time.
   */
  async run<Task, Result>(
    tasks: readonly Task[],
    work: (lane: PackLane, task: Task) => Promise<Result>,
  ): Promise<Result[]> {
    const results: Result[] = [];
    let next = 0;
    const takeTasks = async (lane: PackLane): Promise<void> => {
      if (lane === this.lanes[0]) await this.#busyUntil;
      while (next < tasks.length) {
        checkSignal(this.#signal);
        const index = next++;
        try {
          results[index] = await work(lane, tasks[index]);
        } catch (error) {
          next = tasks.length;
          throw error;
        }
      }
    };
    const [own, ...others] = this.lanes;
    const takers = [...others, ...others, own];
    const ended = await Promise.allSettled(takers.map(takeTasks));
    for (const one of ended) if (one.status === "rejected") throw one.reason;
    return results;
  }

  /** The digest of a file, by a thread that is not this one, if there is one. */
  digest(path: string, name: string): Promise<string> {
    return this.lanes[this.lanes.length - 1].digest(path, name);
  }

  async useChosen(chosen: Float64Array): Promise<void> {
    await Promise.all(this.lanes.map((lane) => lane.useChosen(chosen)));
  }

  async useNames(names: MapNames): Promise<void> {
    await Promise.all(this.lanes.map((lane) => lane.useNames(names)));
  }

  async useFile(file: Uint8Array, source: string): Promise<void> {
    await Promise.all(this.lanes.map((lane) => lane.useFile(file, source)));
  }

  async end(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.end()));
  }
}
