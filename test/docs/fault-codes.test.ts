import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { FAULT_SEVERITIES } from "../../src/maps/map-faults.ts";
import { ROOT } from "../support/code-blocks.ts";

it("docs/errors.md lists every fault that validate reports, with its severity, and no others", () => {
  const text = readFileSync(`${ROOT}docs/errors.md`, "utf8");
  const rows = text.matchAll(/^\| `([a-z-]+)` \| (error|warning) \|/gm);
  const documented = Object.fromEntries(Array.from(rows, ([, code, severity]) => [code, severity]));
  expect(documented).toEqual(FAULT_SEVERITIES);
});
