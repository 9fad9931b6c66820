import { availableParallelism, cpus, loadavg, release, totalmem, type } from "node:os";

/** The machine and the hour, in one line: what every figure depends on. */
export function machine(): string {
  const model = cpus()[0]?.model.trim() ?? "unknown processor";
  const memory = `${Math.round(totalmem() / 1e9)} GB`;
  const parts = [
    new Date().toISOString().slice(0, 10),
    `${availableParallelism()} cores of ${model}`,
    memory,
    `${type()} ${release()}`,
    `Node ${process.versions.node}`,
    `load ${loadavg()[0].toFixed(1)} at the start`,
  ];
  return parts.join(", ");
}
