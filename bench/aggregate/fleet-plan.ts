import { closeSync, openSync, writeSync } from "node:fs";
import { delayMs, type ModelArchive, outcomeOf } from "./archive-model.ts";
import type { Holdings } from "./holdings.ts";
import { NOT_FOUND, timeMapAnswer, UNAVAILABLE } from "./timemap-answers.ts";

/** Longer delays do not fit the fleet, and nobody waits for so long. */
const LONGEST_MS = 60_000;

/** What archives answer, and who they are. */
export interface FleetAnswers {
  readonly models: readonly ModelArchive[];
  readonly holdings: Holdings;
  /** Where each archive is. */
  readonly addresses: readonly string[];
  /** All that they may be asked for. */
  readonly originals: readonly string[];
}

/** Writes what each archive answers to each original, and when, as `native/fleet.c` reads it. */
export function writeFleetPlan(path: string, answers: FleetAnswers): void {
  const { models, holdings, addresses, originals } = answers;
  const names = originals.map((original) => {
    const bytes = Buffer.from(original, "latin1");
    const padded = Buffer.alloc(4 + Math.ceil(bytes.length / 4) * 4);
    padded.writeUInt32LE(bytes.length);
    bytes.copy(padded, 4);
    return padded;
  });
  const counted = Buffer.alloc(12);
  counted.writeUInt32LE(originals.length);
  const head = Buffer.concat([counted, ...names]);
  const table = Buffer.alloc(8 * models.length * originals.length);
  const bodies: Buffer[] = [];
  let end = head.length + table.length;
  const place = (answer: Buffer): number => {
    const start = end;
    const length = Buffer.alloc(4);
    length.writeUInt32LE(answer.length);
    const padding = Buffer.alloc(-answer.length & 3);
    bodies.push(length, answer, padding);
    end += 4 + answer.length + padding.length;
    return start;
  };
  const notFound = place(NOT_FOUND);
  const unavailable = place(UNAVAILABLE);
  // What aggregators make of an original, such as one that they decode.
  head.writeUInt32LE(Math.round(delayMs(models[0], "")), 4);
  head.writeUInt32LE(notFound, 8);
  for (const [i, model] of models.entries()) {
    for (const [j, original] of originals.entries()) {
      const outcome = outcomeOf(model, original);
      let answer = notFound;
      if (outcome === "hang") answer = 0;
      else if (outcome === "error") answer = unavailable;
      else if (holdings[i].has(original)) {
        answer = place(timeMapAnswer(addresses[i], model.id, original));
      }
      const at = 8 * (i * originals.length + j);
      table.writeUInt32LE(Math.min(LONGEST_MS, Math.round(delayMs(model, original))), at);
      table.writeUInt32LE(answer, at + 4);
    }
  }
  const file = openSync(path, "w");
  for (const part of [head, table, Buffer.concat(bodies)]) {
    for (let at = 0; at < part.length;) at += writeSync(file, part, at);
  }
  closeSync(file);
}
