import {
  type Aggregator,
  collectDefaultMetrics,
  Counter,
  Gauge,
  Histogram,
  Registry,
} from "prom-client";
import { packageVersion } from "../files/package-file.ts";

const DURATION_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1, 5, 10, 30, 60];

/** A completed request. */
interface RequestCount {
  /** The name of its route. */
  readonly route: string;
  readonly status: number;
  readonly bytes: number;
  readonly seconds: number;
}

/** A value with its labels. */
export interface Sample {
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly value: number;
}

/** A metric whose values are read on each scrape. */
export interface ReadMetric {
  readonly name: string;
  readonly help: string;
  readonly type: "gauge" | "counter";
  /** The labels of its samples; default none. */
  readonly labels?: readonly string[] | undefined;
  /** How values of several processes are combined; default their sum. */
  readonly acrossProcesses?: Aggregator | undefined;
  readonly read: () => readonly Sample[];
}

/** Gauges of prom-client with names reserved for counters, which `promtool check metrics` rejects. */
const MISNAMED = [
  "nodejs_active_resources_total",
  "nodejs_active_handles_total",
  "nodejs_active_requests_total",
];

/** The metrics of a server, in a prom-client registry. */
export class Metrics {
  /** For custom metrics, and for merging registries. */
  readonly registry: Registry = new Registry();
  readonly lookups: Counter;
  readonly #sentBytes: Counter;
  readonly #requests: Counter;
  readonly #seconds: Histogram;

  constructor() {
    const registers = [this.registry];
    const counter = (name: string, help: string, labelNames: string[] = []): Counter =>
      new Counter({ name, help, labelNames, registers });
    const labels = ["route", "status"];
    this.#requests = counter("mementomap_requests_total", "Requests answered.", labels);
    this.lookups = counter("mementomap_lookups_total", "URIs looked up.");
    this.#sentBytes = counter("mementomap_sent_bytes_total", "Bytes sent to clients.");
    this.#seconds = new Histogram({
      name: "mementomap_request_seconds",
      help: "Time until a request was answered.",
      labelNames: ["route"],
      buckets: DURATION_BUCKETS,
      registers,
    });
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

  request({ route, status, bytes, seconds }: RequestCount): void {
    this.#sentBytes.inc(bytes);
    this.#requests.inc({ route, status });
    this.#seconds.observe({ route }, seconds);
  }

  /** Exposes values stored elsewhere. */
  read({ name, help, type, labels = [], acrossProcesses = "sum", read }: ReadMetric): void {
    const Kind = type === "counter" ? Counter : Gauge;
    const metric: Counter | Gauge = new Kind<string>({
      name,
      help,
      labelNames: labels,
      aggregator: acrossProcesses,
      registers: [this.registry],
      collect() {
        metric.reset();
        for (const sample of read()) metric.inc(sample.labels ?? {}, sample.value);
      },
    });
  }

  /** Exposes the memory, CPU time, garbage collection etc. of the server process. */
  readProcess(): void {
    collectDefaultMetrics({ register: this.registry });
    for (const name of MISNAMED) this.registry.removeSingleMetric(name);
  }

  /** The text format of Prometheus. */
  text(): Promise<string> {
    return this.registry.metrics();
  }
}
