const DURATION_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1, 5, 10, 30, 60];

/** The parts of the server that requests are counted by. */
export type RouteName =
  | "map"
  | "page"
  | "lookup"
  | "batch"
  | "home"
  | "health"
  | "metrics"
  | "openapi"
  | "maps"
  | "timemap"
  | "timegate"
  | "memento"
  | "proxy"
  | "route"
  | "summary"
  | "about"
  | "monitor"
  | "other";

/** A number that says something about the server now. */
export interface Gauge {
  readonly name: string;
  readonly help: string;
  readonly type: "gauge" | "counter";
  readonly values: readonly { readonly labels: Readonly<Record<string, string>>; value: number }[];
}

interface Durations {
  readonly buckets: Float64Array;
  sum: number;
  count: number;
}

/** Counts what the server does, and writes it in the text format of Prometheus. */
export class Metrics {
  lookups = 0;
  sentBytes = 0;
  readonly #requests = new Map<string, { route: RouteName; status: number; count: number }>();
  readonly #durations = new Map<RouteName, Durations>();

  request(route: RouteName, status: number, seconds: number): void {
    const name = `${route} ${status}`;
    const counter = this.#requests.get(name);
    if (counter === undefined) this.#requests.set(name, { route, status, count: 1 });
    else counter.count += 1;
    let durations = this.#durations.get(route);
    if (durations === undefined) {
      durations = { buckets: new Float64Array(DURATION_BUCKETS.length), sum: 0, count: 0 };
      this.#durations.set(route, durations);
    }
    durations.sum += seconds;
    durations.count += 1;
    const bucket = DURATION_BUCKETS.findIndex((limit) => seconds <= limit);
    if (bucket >= 0) durations.buckets[bucket] += 1;
  }

  /** The text format of Prometheus, version 0.0.4. */
  text(gauges: readonly Gauge[]): string {
    const lines = [
      ...family("mementomap_requests_total", "Requests answered.", "counter"),
      ...Array.from(this.#requests.values(), ({ route, status, count }) =>
        sample("mementomap_requests_total", { route, status: String(status) }, count),
      ),
      ...family("mementomap_request_seconds", "Time until a request was answered.", "histogram"),
      ...Array.from(this.#durations, ([route, durations]) => histogram(route, durations)).flat(),
      ...family("mementomap_lookups_total", "URIs looked up.", "counter"),
      sample("mementomap_lookups_total", {}, this.lookups),
      ...family("mementomap_sent_bytes_total", "Bytes of bodies sent.", "counter"),
      sample("mementomap_sent_bytes_total", {}, this.sentBytes),
    ];
    for (const { name, help, type, values } of gauges) {
      lines.push(...family(name, help, type));
      for (const { labels, value } of values) lines.push(sample(name, labels, value));
    }
    return `${lines.join("\n")}\n`;
  }
}

function histogram(route: RouteName, { buckets, sum, count }: Durations): string[] {
  const name = "mementomap_request_seconds";
  let total = 0;
  const lines = DURATION_BUCKETS.map((limit, index) => {
    total += buckets[index];
    return sample(`${name}_bucket`, { route, le: String(limit) }, total);
  });
  return [
    ...lines,
    sample(`${name}_bucket`, { route, le: "+Inf" }, count),
    sample(`${name}_sum`, { route }, sum),
    sample(`${name}_count`, { route }, count),
  ];
}

function family(name: string, help: string, type: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

function sample(name: string, labels: Readonly<Record<string, string>>, value: number): string {
  const parts = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
  return `${name}${parts.length === 0 ? "" : `{${parts.join(",")}}`} ${value}`;
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
