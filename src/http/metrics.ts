import {
  type Aggregator,
  collectDefaultMetrics,
  Counter,
  Gauge,
  type Histogram,
  type MetricValueWithName,
  Registry,
} from "prom-client";
import { packageVersion } from "../files/package-file.ts";

const DURATION_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1, 5, 10, 30, 60];

/** The parts of the server that requests are counted by. */
export type RouteName =
  | "map"
  | "page"
  | "lookup"
  | "batch"
  | "explore"
  | "compare"
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

/** A number with the labels it is exposed with. */
export interface Sample {
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly value: number;
}

/** A metric whose values are read on request. */
export interface ReadMetric {
  readonly name: string;
  readonly help: string;
  readonly type: "gauge" | "counter";
  /** The labels of its samples; default none. */
  readonly labels?: readonly string[] | undefined;
  /** How the values of several processes become one; default their sum. */
  readonly acrossProcesses?: Aggregator | undefined;
  readonly read: () => readonly Sample[];
}

/** What a process counted, as it tells the others. */
export type MetricsSnapshot = Awaited<ReturnType<Registry["getMetricsAsJSON"]>>;

/** prom-client exposes these gauges under names of counters, which `promtool check metrics` refuses. */
const MISNAMED = [
  "nodejs_active_resources_total",
  "nodejs_active_handles_total",
  "nodejs_active_requests_total",
];

export interface TimingsOptions {
  readonly name: string;
  readonly help: string;
  /** The name of the label, if there is one. */
  readonly label?: string | undefined;
  /** The upper ends of the buckets in seconds, ascending. */
  readonly buckets: readonly number[];
}

/**
 * A histogram of times in a registry of prom-client, and five times as fast as its own, which took
 * 2 % of the time of a request to a dozen archives.
 */
export class Timings {
  readonly name: string;
  readonly #help: string;
  readonly #label: string | undefined;
  readonly #buckets: readonly number[];
  /** For each value of the label: a count for each bucket and one more, then the sum. */
  readonly #counts = new Map<string, Float64Array>();

  constructor({ name, help, label, buckets }: TimingsOptions) {
    this.name = name;
    this.#help = help;
    this.#label = label;
    this.#buckets = buckets;
    if (label === undefined) this.#countsOf("");
  }

  observe(seconds: number, label: string = ""): void {
    const counts = this.#countsOf(label);
    let bucket = 0;
    while (bucket < this.#buckets.length && seconds > this.#buckets[bucket]) bucket += 1;
    counts[bucket] += 1;
    counts[counts.length - 1] += seconds;
  }

  /** What a registry asks for. */
  get(): Promise<object> {
    const values = Array.from(this.#counts, ([label, counts]) => this.#valuesOf(label, counts));
    return Promise.resolve({
      name: this.name,
      help: this.#help,
      type: "histogram",
      aggregator: "sum",
      values: values.flat(),
    });
  }

  #countsOf(label: string): Float64Array {
    const known = this.#counts.get(label);
    if (known !== undefined) return known;
    const counts = new Float64Array(this.#buckets.length + 2);
    this.#counts.set(label, counts);
    return counts;
  }

  #valuesOf(label: string, counts: Float64Array): MetricValueWithName<string>[] {
    const labels = this.#label === undefined ? {} : { [this.#label]: label };
    let count = 0;
    const cumulative = [...this.#buckets, "+Inf"].map((le, bucket) => {
      count += counts[bucket];
      return { metricName: `${this.name}_bucket`, labels: { le, ...labels }, value: count };
    });
    return [
      ...cumulative,
      { metricName: `${this.name}_sum`, labels, value: counts[counts.length - 1] },
      { metricName: `${this.name}_count`, labels, value: count },
    ];
  }
}

/** A number that only grows; a counter of prom-client looks its labels up for each increment. */
export class Count {
  value = 0;

  inc(by = 1): void {
    this.value += by;
  }
}

/** What a server counts, and how it is exposed to Prometheus. */
export class Metrics {
  /** For metrics of your own, and for a registry that joins several. */
  readonly registry: Registry = new Registry();
  readonly lookups: Count;
  readonly sentBytes: Count;
  /** By route and status. */
  readonly #requests = new Map<RouteName, Map<number, Count>>();
  readonly #durations: Timings;

  constructor() {
    this.read({
      name: "mementomap_requests_total",
      help: "Requests answered.",
      type: "counter",
      labels: ["route", "status"],
      read: () =>
        Array.from(this.#requests, ([route, counts]) =>
          Array.from(counts, ([status, { value }]) => ({
            labels: { route, status: String(status) },
            value,
          })),
        ).flat(),
    });
    this.#durations = this.timings({
      name: "mementomap_request_seconds",
      help: "Time until a request was answered.",
      label: "route",
      buckets: DURATION_BUCKETS,
    });
    this.lookups = this.count("mementomap_lookups_total", "URIs looked up.");
    this.sentBytes = this.count("mementomap_sent_bytes_total", "Bytes sent to clients.");
    this.read({
      name: "mementomap_build_info",
      help: "1, with the versions of mementomap and Node as labels.",
      type: "gauge",
      labels: ["version", "node"],
      acrossProcesses: "first",
      read: () => [
        { labels: { version: packageVersion(), node: process.versions.node }, value: 1 },
      ],
    });
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  request(route: RouteName, status: number, seconds: number): void {
    this.#requestsOf(route, status).inc();
    this.#durations.observe(seconds, route);
  }

  #requestsOf(route: RouteName, status: number): Count {
    let byStatus = this.#requests.get(route);
    if (byStatus === undefined) this.#requests.set(route, (byStatus = new Map<number, Count>()));
    let count = byStatus.get(status);
    if (count === undefined) byStatus.set(status, (count = new Count()));
    return count;
  }

  /** Makes and exposes a counter. */
  count(name: string, help: string): Count {
    const count = new Count();
    this.read({ name, help, type: "counter", read: () => [{ value: count.value }] });
    return count;
  }

  /** Makes and exposes a histogram of times. */
  timings(options: TimingsOptions): Timings {
    const timings = new Timings(options);
    // The registry asks for no more than `Timings` has.
    this.registry.registerMetric(timings as unknown as Histogram);
    return timings;
  }

  /** Exposes values that are kept elsewhere. */
  read({ name, help, type, labels = [], acrossProcesses = "sum", read }: ReadMetric): void {
    const about = { name, help, labelNames: labels, aggregator: acrossProcesses, registers: [] };
    const metric =
      type === "counter"
        ? new Counter<string>({
            ...about,
            collect() {
              this.reset();
              for (const sample of read()) this.inc(sample.labels ?? {}, sample.value);
            },
          })
        : new Gauge<string>({
            ...about,
            collect() {
              this.reset();
              for (const sample of read()) this.set(sample.labels ?? {}, sample.value);
            },
          });
    this.registry.registerMetric(metric);
  }

  /** Exposes memory, processor time, garbage collection and the like: of a process that is a server. */
  readProcess(): void {
    collectDefaultMetrics({ register: this.registry });
    for (const name of MISNAMED) this.registry.removeSingleMetric(name);
  }

  /** The values as they are now, for `JoinedMetrics`. */
  snapshot(): Promise<MetricsSnapshot> {
    return this.registry.getMetricsAsJSON();
  }

  /** The text format of Prometheus. */
  text(): Promise<string> {
    return this.registry.metrics();
  }
}
