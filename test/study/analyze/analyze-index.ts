import { mkdtempSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { IndexSource } from "../../../src/generate/generate-map.ts";
import type { Analysis } from "../../../src/study/analyze/analysis.ts";
import {
  analyzeFiles,
  type AnalyzeFilesOptions,
} from "../../../src/study/analyze/analyze-files.ts";

export type AnalyzeIndexOptions = Partial<AnalyzeFilesOptions>;

/** Analyzes indexes that a test has in memory, by way of files; outside of tests, too. */
export async function analyzeIndex(
  sources: Iterable<IndexSource>,
  options: AnalyzeIndexOptions = {},
): Promise<Analysis> {
  const folder = mkdtempSync(join(tmpdir(), "mementomap-test-"));
  try {
    const paths: string[] = [];
    for (const { name, chunks } of sources) {
      const path = join(folder, name);
      await writeFile(path, chunks);
      paths.push(path);
    }
    return await analyzeFiles(paths, { streams: { stdin: Readable.from([]) }, ...options });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
