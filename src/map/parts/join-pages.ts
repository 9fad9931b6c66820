import type { Output } from "../../files/output-file.ts";
import type { Interrupt } from "../../interruption.ts";
import { pageHead } from "../split-map.ts";
import type { JoinedParts } from "./join-parts.ts";
import { copyRows, countRows, keysOf } from "./rows-stretch.ts";

/** Runs `use` with the output for a page. */
type WithPage = (name: string, use: (output: Output) => Promise<void>) => Promise<void>;

/** Writes the rows of joined parts as pages of a map, one for each part that has any; returns how many. */
export async function writePages(
  joined: JoinedParts,
  withPage: WithPage,
  interrupt?: Interrupt,
): Promise<number> {
  const { headers } = joined;
  const pages = joined.pages
    .map((rows) => rows.filter(({ start, end }) => start < end))
    .filter((rows, i) => rows.length > 0 || (i === 0 && joined.pages.flat().every(isEmpty)));
  const digits = Math.max(4, String(pages.length).length);
  for (const [i, rows] of pages.entries()) {
    const [first] = keysOf(rows[0] ?? NOTHING) ?? [];
    const [, last] = keysOf(rows.at(-1) ?? NOTHING) ?? [];
    const head = pageHead(
      { headers, pages: [] },
      {
        number: i + 1,
        of: pages.length,
        ...(first === undefined || last === undefined ? {} : { first, last }),
        records: rows.reduce((sum, stretch) => sum + countRows(stretch), 0),
        bytes: rows.reduce((sum, { start, end }) => sum + end - start, 0),
        start: 0,
        end: 0,
      },
    );
    await withPage(`page-${String(i + 1).padStart(digits, "0")}.ukvs`, async (output) => {
      await output.write(head);
      for (const stretch of rows) await copyRows(stretch, output, interrupt?.signal);
    });
  }
  return pages.length;
}

const NOTHING = { path: "", start: 0, end: 0 };

function isEmpty({ start, end }: { readonly start: number; readonly end: number }): boolean {
  return start >= end;
}
