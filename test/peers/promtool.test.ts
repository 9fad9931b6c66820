import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { aggregateProcess, writeList } from "../support/aggregate-process.ts";
import { plainArchive } from "../support/aggregating.ts";
import { rawGet } from "../support/raw-http.ts";
import { dashboardQueries, RULES } from "../support/monitoring.ts";
import { scratchDir } from "../support/scratch.ts";
import { startServe } from "../support/serve-process.ts";
import { program } from "./programs.ts";

const PROMTOOL = program("promtool");

/** What promtool says about an exposition; nothing when it is fine. */
function complaints(text: string): string {
  const { status, stdout, stderr } = spawnSync(PROMTOOL ?? "", ["check", "metrics"], {
    input: text,
    encoding: "utf8",
  });
  return status === 0 ? `${stdout}${stderr}` : `status ${status}\n${stdout}${stderr}`;
}

describe.skipIf(PROMTOOL === undefined)(
  "promtool check metrics (skipped where promtool is missing: Debian package prometheus)",
  () => {
    it("accepts what the aggregator exposes", async () => {
      const archives = [
        await plainArchive("one", ["20050101000000"]),
        await plainArchive("two", []),
      ];
      const { url } = await aggregateProcess(["--archives", writeList(archives)]);
      await (await fetch(`${url}/timemap/link/http://example.org/`)).text();
      await (await fetch(`${url}/nothing`)).text();
      const text = await (await fetch(`${url}/metrics`)).text();
      expect(text).toContain('mementomap_archive_seconds_count{archive="one"} 1');
      expect(text).toContain("process_start_time_seconds");
      expect(complaints(text)).toBe("");
    });

    it("accepts what the publisher exposes, on a port of its own", async () => {
      const { url, metrics } = await startServe(["--metrics-port", "0"]);
      await (await fetch(`${url}/lookup?url=http://example.org/`)).text();
      const text = await (await fetch(`${metrics}/metrics`)).text();
      expect(text).toContain('route="lookup"');
      expect(complaints(text)).toBe("");
      expect(await rawGet(url, "/metrics")).toContain("404");
    });

    it("sees the faults it is asked to see", () => {
      expect(complaints("# TYPE a_bucket counter\na_bucket 1\n")).not.toBe("");
    });
  },
);

/** Runs promtool with a file of this content. */
function promtool(command: "check" | "test", content: string): string {
  const file = join(scratchDir(), "rules.yml");
  writeFileSync(file, content);
  const { status, stdout, stderr } = spawnSync(PROMTOOL ?? "", [command, "rules", file], {
    encoding: "utf8",
  });
  return status === 0 ? "fine" : `${stdout}${stderr}`;
}

describe.skipIf(PROMTOOL === undefined)(
  "promtool rules (skipped where promtool is missing: Debian package prometheus)",
  () => {
    const tests = readFileSync(new URL("alert-rules.yml", import.meta.url), "utf8");

    it("accepts the alerts of deploy/, which fire when they should and not otherwise", () => {
      expect(promtool("check", readFileSync(RULES, "utf8"))).toBe("fine");
      expect(promtool("test", tests.replace("RULES", RULES))).toBe("fine");
    });

    it("sees an alert that does not fire", () => {
      const other = tests.replaceAll("3974400x2000", "86400x2000");
      expect(promtool("test", other.replace("RULES", RULES))).toContain("MementomapMapOld");
    });

    it("understands the queries of the dashboard", () => {
      const rules = dashboardQueries().map((query, i) => {
        const expr = query.replaceAll("$__rate_interval", "5m");
        return `  - { record: "q:${i}", expr: ${JSON.stringify(expr)} }`;
      });
      const file = `groups:\n- name: dashboard\n  rules:\n${rules.join("\n")}\n`;
      expect(promtool("check", file)).toBe("fine");
    });
  },
);
