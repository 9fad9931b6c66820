import { existsSync } from "node:fs";
import { join } from "node:path";
import { isMementoMapError } from "../../src/errors.ts";
import type { Peer } from "./peer.ts";
import { timed } from "./timed.ts";
import type { TimedRun } from "./timed.ts";

/** The newest release when this bench was written. */
const PACKAGE = "cdxsummary==0.1.1b5";

/** What cdx-summary reports of a CDX file, not grouped (`--report`). */
export interface CdxSummaryReport {
  readonly captures: number;
  /** Changes of the URL from line to line: that many distinct ones only in a sorted file. */
  readonly urls: number;
  readonly hosts: number;
  readonly first: string;
  readonly last: string;
  /** By host in its usual order. */
  readonly tophosts: Readonly<Record<string, number>>;
  readonly mimestatus: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly pathquery: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly yearmonth: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

export interface CdxSummaryRun extends TimedRun {
  readonly report: CdxSummaryReport;
}

/** The Internet Archive's cdx-summary, run as a program. */
export class CdxSummary {
  readonly #program: string;

  constructor(program: string) {
    this.#program = program;
  }

  /** `cdxsummary --report` of a CDX file with ten samples and `hosts` hosts. */
  async summarize(index: string, hosts: number): Promise<CdxSummaryRun> {
    const options = ["--report", "--tophosts", String(hosts), index];
    const run = await timed(this.#program, options);
    return { ...run, report: JSON.parse(run.stdout) as CdxSummaryReport };
  }
}

/** Installs cdx-summary into a virtual environment in `folder`, unless it is there. */
export async function cdxSummary(folder: string): Promise<Peer<CdxSummary>> {
  const environment = join(folder, "venv-cdxsummary");
  const program = join(environment, "bin", "cdxsummary");
  try {
    if (!existsSync(program)) {
      await timed("python3", ["-m", "venv", environment]);
      await timed(join(environment, "bin", "pip"), ["install", "--quiet", PACKAGE]);
    }
  } catch (error) {
    if (!isMementoMapError(error)) throw error;
    return { missing: `${PACKAGE} cannot be installed: ${error.message}` };
  }
  return { peer: new CdxSummary(program) };
}
