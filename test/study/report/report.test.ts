import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sampleIndex } from "../../../src/study/sample/sample-archive.ts";
import { csv, latexFiles } from "../../../src/study/report/files.ts";
import { column, type Report, type Table } from "../../../src/study/report/report.ts";
import { reportText, tableLines } from "../../../src/study/report/text.ts";
import { runCli } from "../../support/run-cli.ts";
import { scratchDir } from "../../support/scratch.ts";

/** The tables of a page: the cells of each as they are shown, and the values behind them. */
function pageTables(html: string): Map<string, { shown: string[][]; values: string[][] }> {
  const tables = new Map<string, { shown: string[][]; values: string[][] }>();
  for (const [, id = "", body = ""] of html.matchAll(
    /<div class="table" id="([\w-]+)"><table>(.*?)<\/table>/gs,
  )) {
    const rows = [...body.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = ""]) => [
      ...row.matchAll(/<t[hd]([^>]*)>(.*?)<\/t[hd]>/gs),
    ]);
    const text = (cell: string): string =>
      cell
        .replaceAll("&lt;", "<")
        .replaceAll("&gt;", ">")
        .replaceAll("&#39;", "'")
        .replaceAll("&quot;", '"')
        .replaceAll("&amp;", "&");
    const shown = rows.map((row) => row.map(([, , cell = ""]) => text(cell)));
    const values = rows.map((row) =>
      row.map(([, attributes = "", cell = ""]) =>
        text(/data-v="([^"]*)"/.exec(attributes)?.[1] ?? cell),
      ),
    );
    tables.set(id.replace(/-numbers$/, ""), { shown, values });
  }
  return tables;
}

function csvRows(text: string): string[][] {
  return text
    .split("\r\n")
    .slice(0, -1)
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
        ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? "",
      ),
    );
}

// oxlint-disable-next-line typescript/no-explicit-any -- a table of any rows
function reportOf(table: Table<any>): Report {
  const section = { id: "s", title: "S", text: "", blocks: [table] };
  return { name: "r", title: "R", lead: "", facts: [], sections: [section], data: {} };
}

describe("a report", () => {
  it("has the same numbers as text, HTML, CSV and JSON, to the last digit", async () => {
    const folder = scratchDir();
    const at = (name: string): string => join(folder, name);
    writeFileSync(at("i.cdxj"), Buffer.concat([...sampleIndex({ lines: 3000 })]));
    const outputs = ["html", "csv", "latex", "svg"].flatMap((kind) => [`--${kind}`, at(kind)]);
    const { stdout } = await runCli(["analyze", "-q", at("i.cdxj"), ...outputs]);
    const page = pageTables(readFileSync(at("html"), "utf8"));
    const names = readdirSync(at("csv")).map((name) => name.replace(".csv", ""));
    expect(new Set(page.keys())).toEqual(new Set(names));
    expect(readdirSync(at("latex")).map((name) => name.replace(".tex", ""))).toEqual(names);
    expect(readdirSync(at("svg")).length).toBeGreaterThan(10);
    for (const [id, { shown, values }] of page) {
      const rows = csvRows(readFileSync(at(`csv/${id}.csv`), "utf8"));
      const safe = values.map((row) =>
        row.map((cell) => cell.replace(/^(?=[=+@]|-(?![\d.]))/, "'")),
      );
      expect({ id, rows }).toEqual({ id, rows: safe });
      // What is shown is the value, rounded.
      for (const [i, row] of shown.entries()) {
        for (const [j, cell] of row.entries()) {
          const value = values[i]?.[j] ?? "";
          if (i === 0 || value === cell || cell === "-") continue;
          const digits = /\.(\d+)/.exec(cell)?.[1]?.length ?? 0;
          const factor = shown[0]?.[j]?.endsWith("%") || cell.endsWith("%") ? 100 : 1;
          const rounded = (Number(value) * factor).toFixed(digits);
          expect([id, Number(cell.replaceAll(/[, %]/g, ""))]).toEqual([id, Number(rounded)]);
        }
      }
    }
    for (const [id, heading] of [
      ["tlds", "Top-level domains"],
      ["exact-depths", "Items of exact depth"],
      ["laws", "Fitted laws"],
    ] as const) {
      const [, lines = ""] = stdout.split(`\n${heading}\n`);
      const cells = lines.split("\n\n", 1)[0]?.split("\n").slice(1);
      expect(cells?.map((line) => line.split(/ {2,}/))).toEqual(page.get(id)?.shown);
    }
    const { stdout: json } = await runCli(["analyze", "-q", "--json", at("i.cdxj")]);
    const analysis = JSON.parse(json) as {
      tlds: { rows: Record<string, number | string>[] };
      years: { year: number; mementos: number; gamma: number; duplicateShare: number }[];
      depths: { meanChildren: number; reductionQuotient: number }[];
    };
    expect(page.get("tlds")?.values.slice(1, 1 + analysis.tlds.rows.length)).toEqual(
      analysis.tlds.rows.map((row) => Object.values(row).map(String)),
    );
    const columns = (id: string, ...places: number[]): number[][] =>
      (page.get(id)?.values ?? []).slice(1).map((row) => places.map((i) => Number(row[i])));
    expect(columns("year-table", 0, 3, 5, 6).slice(0, -1)).toEqual(
      analysis.years.map((row) => [row.year, row.mementos, row.duplicateShare, row.gamma]),
    );
    expect(columns("depth-table", 10)).toEqual(analysis.depths.map((row) => [row.meanChildren]));
  });

  it("writes units into CSV so that a program reads numbers", () => {
    const table: Table<readonly [string, number | null]> = {
      id: "t",
      title: "T",
      columns: [column.text("Host", ([name]) => name), column.share("Orig.", ([, value]) => value)],
      rows: [
        ["=cmd|x", 0.6298],
        ['a "b", c', null],
      ],
    };
    expect(csv(table)).toBe('Host,Orig.\r\n\'=cmd|x,0.6298\r\n"a ""b"", c",\r\n');
    expect(tableLines(table)).toEqual([
      ["T", "-----------------", "Host      Orig. %", "=cmd|x      62.98", 'a "b", c        -'],
    ]);
  });

  it("escapes what LaTeX takes for commands", () => {
    const rows = ["a_b & 50 % {x}\\~^"];
    const table = {
      id: "t",
      title: "#1 of γ",
      columns: [column.text<string>("$", (row) => row)],
      rows,
    };
    const text = latexFiles(reportOf(table)).get("t.tex");
    expect(text).toContain(String.raw`\caption{\#1 of $\gamma$}`);
    expect(text).toContain(
      String.raw`a\_b \& 50 \% \{x\}\textbackslash{}\textasciitilde{}\textasciicircum{} \\`,
    );
  });

  it("fits a terminal: texts lose their middle, and a wide table goes on below", () => {
    const columns = [
      column.text<number>("Name", (row) => `${"x".repeat(100)}${row}`),
      ...Array.from({ length: 12 }, (_, i) => column.count<number>(`Column ${i}`, () => 10 ** i)),
    ];
    const text = reportText(reportOf({ id: "t", title: "T", columns, rows: [1, 2] }));
    const lines = text.split("\n");
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    for (let i = 0; i < 12; i++) expect(text).toContain(`Column ${i}`);
    expect(lines.filter((line) => line.endsWith("(continued)")).length).toBeGreaterThan(0);
    expect(lines.filter((line) => line.startsWith("xxx") && line.includes("2 "))).not.toEqual([]);
  });

  it("never rounds up to 1 what is below it", () => {
    const columns = [column.ratio<number>("Recall", (row) => row)];
    const [lines = []] = tableLines({ id: "t", title: "T", columns, rows: [0.99999, 1, 0.5] });
    expect(lines.slice(3)).toEqual(["0.9999", "1.0000", "0.5000"]);
  });
});
