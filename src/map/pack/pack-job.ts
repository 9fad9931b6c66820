import { closeSync, openSync } from "node:fs";
import { requiredFile } from "../../files/package-file.ts";
import type { PackedHead } from "../../packed/packed-file.ts";
import { PackedNames } from "../../packed/packed-map.ts";
import { checkSignal } from "../../interruption.ts";
import { inTurns, onThread, type Remote, Thread } from "../../threads/thread.ts";
import type { Fields } from "../../ukvs/header.ts";
import { MapLines } from "../compact/map-lines.ts";
import { blockBytesFor, readBlocks, tooLong } from "../compact/run/line-blocks.ts";
import {
  type BuiltPartition,
  type MapNames,
  type NameSelection,
  ShardBuilder,
  type ShardRun,
} from "./build-shards.ts";
import type { FilterPlan, ShardNames } from "./dealt-names.ts";
import { HeldCheck } from "./held-check.ts";
import { scanPart, type ScanResult, type ScanTask } from "./scan-part.ts";

/** A part of a map whose rows a packed map is asked for. */
export interface AskTask extends Pick<ScanTask, "path" | "source" | "start" | "end"> {
  readonly fields: Fields;
  readonly head: PackedHead;
  readonly data: Uint32Array;
}

/** What a packed map does not say of a part of its map. */
export interface AskResult {
  /** Keys that a void may hide. */
  readonly hidden: readonly Uint8Array[];
  /** Keys that are not found. */
  readonly lost: number;
}

/** The steps of packing that can be done in parts, on any thread. */
export class PackJob {
  #builder: ShardBuilder | undefined;
  #names: MapNames = { partitionBits: 0, parts: [] };

  scan(task: ScanTask): ScanResult {
    return scanPart(task);
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

  ask({ head, data, fields, ...part }: AskTask): AskResult {
    const check = new HeldCheck(new PackedNames(head, part.source, { data }));
    const lines = new MapLines(check, fields);
    const buffer = new Uint8Array(blockBytesFor(part));
    const file = openSync(part.path, "r");
    try {
      readBlocks(file, part, buffer, (length, isWhole) => {
        if (!isWhole) throw tooLong(part.source, lines.lines + 1);
        lines.read(buffer.subarray(0, length), { source: part.source, firstLine: 1 });
        return true;
      });
    } finally {
      closeSync(file);
    }
    return { hidden: check.hidden, lost: check.lost };
  }

  get #shards(): ShardBuilder {
    return (this.#builder ??= new ShardBuilder());
  }
}

const METHODS = ["scan", "useNames", "count", "build", "solve", "ask"] as const;

/** Something that does a share of the work: a thread of its own, or this one. */
export type PackLane = Remote<PackJob, (typeof METHODS)[number]>;

/** This thread and others, which share out the work. */
export class PackLanes {
  readonly #threads: readonly Thread[];
  readonly lanes: readonly PackLane[];
  readonly #signal: AbortSignal | undefined;

  constructor(threads: number, signal: AbortSignal | undefined) {
    this.#signal = signal;
    this.#threads = Array.from(
      { length: threads - 1 },
      () => new Thread(requiredFile("dist/map/pack/pack-worker.js"), undefined),
    );
    this.lanes = [
      inTurns(new PackJob(), METHODS),
      ...this.#threads.map((thread) =>
        onThread<PackJob, (typeof METHODS)[number]>(thread, METHODS, {}),
      ),
    ];
  }

  /** Does all tasks; each lane takes the next one when it has done one. Gives the results in order. */
  async run<Task, Result>(
    tasks: readonly Task[],
    work: (lane: PackLane, task: Task) => Promise<Result>,
  ): Promise<Result[]> {
    const results: Result[] = [];
    let next = 0;
    const takeTasks = async (lane: PackLane): Promise<void> => {
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
    const ended = await Promise.allSettled(this.lanes.map(takeTasks));
    for (const one of ended) if (one.status === "rejected") throw one.reason;
    return results;
  }

  async useNames(names: MapNames): Promise<void> {
    await Promise.all(this.lanes.map((lane) => lane.useNames(names)));
  }

  async end(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.end()));
  }
}
