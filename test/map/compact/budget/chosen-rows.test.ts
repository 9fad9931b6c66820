import { describe, expect, it } from "vitest";
import { chosenRows } from "../../../../src/map/compact/budget/budget-compaction.ts";
import type { BudgetKernels } from "../../../../src/map/compact/budget/kernels.ts";
import { nodeName } from "../../../../src/map/compact/budget/budget-survey.ts";

const ROWS = ["com,a)/x/1 1", "com,a)/x/2 2", "com,b)/y 3", "com,b)/z 4", "org,c)/ 5"];
const MAP = Buffer.from(`!id {"uri":"https://a.org/"}\n${ROWS.join("\n")}\n`);

async function* read(): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < MAP.length; at += 30) yield MAP.subarray(at, at + 30);
}

function names(...nodes: string[]): number[] {
  return nodes.map((node) => nodeName(Buffer.from(node), node.length));
}

async function written(kernels?: BudgetKernels): Promise<string> {
  const blocks: Uint8Array[] = [];
  const options = { source: "map", kernels };
  for await (const block of chosenRows(read, names("com,a)/x"), options)) blocks.push(block);
  return Buffer.concat(blocks).toString();
}

describe("chosenRows", () => {
  const expected = "com,a)/x/* 3\ncom,b)/y 3\ncom,b)/z 4\norg,c)/ 5\n";

  it("rolls up what was chosen, and nothing else", async () => {
    expect(await written()).toBe(expected);
  });

  it.each([0, 5, 13, 14, 30, 44])(
    "goes on where a kernel gave up after %i bytes",
    async (given) => {
      const rows = Buffer.from(expected);
      const kernels: BudgetKernels = {
        survey: () => undefined,
        solver: () => undefined,
        compact: (_, write) => ({
          take(lines) {
            if (lines.length === 0) return true;
            write(rows.subarray(0, given));
            return false;
          },
          finish: () => false,
          rows: 0,
          rollUps: 0,
        }),
      };
      expect(await written(kernels)).toBe(expected);
    },
  );
});
