import { readFileSync } from "node:fs";
import { ROOT } from "./code-blocks.ts";

/** The members of a Grafana dashboard that tests use. */
interface Dashboard {
  readonly panels: readonly {
    readonly id: number;
    readonly type: string;
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number };
    readonly targets?: readonly { readonly expr: string }[];
  }[];
}

export const RULES: string = `${ROOT}deploy/prometheus-rules.yml`;

/** The dashboard of `deploy/`. */
export function dashboard(): Dashboard {
  return JSON.parse(readFileSync(`${ROOT}deploy/grafana-dashboard.json`, "utf8")) as Dashboard;
}

/** All queries of its panels. */
export function dashboardQueries(): string[] {
  return dashboard().panels.flatMap(({ targets }) => (targets ?? []).map(({ expr }) => expr));
}

/** The alerts of `deploy/`. */
export function alertRules(): { readonly alert: string; readonly expr: string; text: string }[] {
  const [, ...alerts] = readFileSync(RULES, "utf8").split("- alert: ");
  return alerts.map((text) => ({
    alert: text.slice(0, text.indexOf("\n")),
    expr: /expr: ([^]*?)\n +(?:for|labels):/.exec(text)?.[1] ?? "",
    text,
  }));
}
