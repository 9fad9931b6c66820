import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ioError, MementoMapError } from "../../errors.ts";
import type { InputStreams } from "../../files/input-file.ts";
import { ScratchSpill, withTempDir } from "../../files/scratch.ts";
import type { Interrupt } from "../../interruption.ts";
import { isJsonObject } from "../../ukvs/header.ts";
import { BudgetCompaction } from "../compact/budget/budget-compaction.ts";
import {
  type Budget,
  type MissesFile,
  readMisses,
  rowsWithin,
} from "../compact/run/budget-files.ts";
import { budgetKernels } from "../compact/run/budget-kernels.ts";
import type { ChosenNodes } from "../compact/run/compact-files.ts";
import { joinHeaders } from "./join-parts.ts";
import type { MissList } from "../compact/budget/misses.ts";
import { joinSurveys, type OpenedSurvey, openSurvey, surveyHeaders } from "./part-survey.ts";

/** A file that begins so is a plan. */
export const PLAN_START = '{"rollUpPlan":';

/** What a plan says, as JSON. */
interface PlanFile {
  readonly rollUpPlan: 1;
  /** Rows of the map that follows from it. */
  readonly rows: number;
  readonly price: number;
  readonly chosen: readonly number[];
  /** Keys of rows with 0 that are added. */
  readonly excluded: readonly string[];
}

/** A plan that parts are compacted by. */
export interface PartsPlan extends ChosenNodes {
  /** Rows with 0 that are added when the parts are joined, in byte order. */
  readonly exclusions: readonly Uint8Array[];
}

export interface PlanPartsOptions {
  /** Lookups that missed, those that the surveys were made with. */
  readonly misses?: MissesFile | undefined;
  readonly allowsExclusions?: boolean | undefined;
  readonly scratch?: string | undefined;
  readonly streams: InputStreams;
  readonly interrupt?: Interrupt | undefined;
}

/**
 * Plans the map of a given size from the surveys of all its parts: what `compact` would roll up in the
 * whole map.
 *
 * Holds what `BudgetCompaction` holds, without reading a row.
 *
 * @throws MM_BAD_INPUT for surveys that do not belong together; MM_BUDGET
 */
export async function planParts(
  paths: readonly string[],
  budget: Budget,
  options: PlanPartsOptions,
): Promise<PlanFile> {
  const { scratch: parent, streams, interrupt } = options;
  const misses =
    options.misses === undefined
      ? undefined
      : await readMisses(options.misses, { ...streams, interrupt });
  return withTempDir({ parent, interrupt }, async (scratch) => {
    const surveys = await Promise.all(
      paths.map((path) => openSurvey(path, { ...streams, interrupt })),
    );
    const inOrder = surveys.toSorted((a, b) => a.part.number - b.part.number);
    for (const [i, { part, name }] of inOrder.entries()) {
      const before = inOrder[i - 1]?.part;
      const isNext = part.number === i + 1 && part.of === inOrder.length;
      checkMisses(inOrder[i], misses);
      if (isNext && part.from === before?.to) continue;
      throw new MementoMapError(
        "MM_BAD_INPUT",
        `is of part ${part.number} of ${part.of}, where that of part ${i + 1} of ` +
          `${inOrder.length} is expected; give the surveys of all parts once`,
        { position: { source: name } },
      );
    }
    const headers = joinHeaders(
      inOrder.map((survey) => ({ name: survey.name, headers: surveyHeaders(survey) })),
    );
    const spill = new ScratchSpill(join(scratch, "nodes"));
    try {
      const survey = await joinSurveys(inOrder, spill);
      const kernels = budgetKernels;
      const { allowsExclusions } = options;
      const compaction = BudgetCompaction.of(
        noRows,
        { survey, headers },
        { kernels, misses, allowsExclusions },
      );
      const plan = compaction.plan(rowsWithin(budget, compaction));
      const { rows, price, chosen } = plan;
      const excluded = compaction.exclusionKeys(plan);
      return { rollUpPlan: 1, rows, price, chosen, excluded };
    } finally {
      spill.close();
    }
  });
}

/** @throws MM_USAGE where a survey was made with other misses than the plan. */
function checkMisses({ name, misses }: OpenedSurvey, given: MissList | undefined): void {
  if (misses === (given?.count ?? 0)) return;
  throw new MementoMapError(
    "MM_USAGE",
    `was made with ${misses} misses, but ${given?.count ?? 0} are given; give the same --misses`,
    { position: { source: name } },
  );
}

function noRows(): never {
  throw new Error("a plan reads no rows");
}

/** Reads a plan. @throws MM_BAD_INPUT, MM_IO */
export async function readPlan(path: string): Promise<PartsPlan> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw ioError(error, path);
  });
  const plan: unknown = text.startsWith(PLAN_START) ? JSON.parse(text) : undefined;
  const chosen = isJsonObject(plan) ? plan["chosen"] : undefined;
  if (!Array.isArray(chosen)) {
    throw new MementoMapError("MM_BAD_INPUT", "is not a plan; combine makes one of surveys", {
      position: { source: path },
    });
  }
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 16);
  // What planParts gave.
  const { chosen: names, excluded } = plan as PlanFile;
  const exclusions = excluded.map((key) => new TextEncoder().encode(`${key} 0\n`));
  return { chosen: names, digest, exclusions };
}
