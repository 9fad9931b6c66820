import type { Gauge } from "./metrics.ts";

/** What every server tells of its process. */
export function processGauges(): Gauge[] {
  const { rss, heapUsed } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return [
    gauge("process_resident_memory_bytes", "Memory of the process.", one(rss)),
    gauge("nodejs_heap_used_bytes", "Heap in use.", one(heapUsed)),
    counter("process_cpu_seconds_total", "Time on the processor.", one((user + system) / 1e6)),
  ];
}

/** A value without labels. */
export function one(value: number): Gauge["values"] {
  return [{ labels: {}, value }];
}

/** A number that goes up and down. */
export function gauge(name: string, help: string, values: Gauge["values"]): Gauge {
  return { name, help, type: "gauge", values };
}

/** A number that only goes up. */
export function counter(name: string, help: string, values: Gauge["values"]): Gauge {
  return { name, help, type: "counter", values };
}
