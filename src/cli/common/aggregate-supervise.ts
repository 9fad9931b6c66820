import { availableParallelism } from "node:os";
import { Counter, Gauge, Registry } from "prom-client";
import { Supervisor } from "../../files/processes/supervisor.ts";
import { JoinedMetrics } from "../../publish/serve/joined-metrics.ts";
import { JsonLog } from "../../http/log.ts";
import type { MetricsSnapshot } from "../../http/metrics.ts";
import type { ServiceValues, WorkerStart } from "./aggregate-serve.ts";
import { usage } from "./command-line.ts";
import { ExitCode, type Io } from "./io.ts";
import { listeningLine } from "./listening.ts";

/** Each worker has a copy of the maps in memory, so that a machine of 64 cores does not get 64. */
const MOST_BY_DEFAULT = 4;

/** One worker for each core, up to a limit; 1 where the program cannot be started once more. */
export function defaultWorkers({ program }: Io): number {
  return program === undefined ? 1 : Math.min(MOST_BY_DEFAULT, availableParallelism());
}

/**
 * Runs the service in several processes until it is told to stop. This one answers no requests: it
 * starts and replaces the workers, and puts together what they know.
 *
 * @throws MM_USAGE where the program cannot be started once more.
 */
export async function superviseAggregators(
  values: ServiceValues & { readonly workers: number },
  io: Io,
): Promise<ExitCode> {
  const { program } = io;
  if (program === undefined) throw usage("aggregate", "--workers needs the program mementomap");
  const count = values.workers;
  const log = new JsonLog(
    (text) => {
      if (values["access-log"] !== "nothing") io.stderr.write(text);
    },
    { requests: false },
  );
  const metrics = new JoinedMetrics();
  const supervisor: Supervisor = new Supervisor({
    program,
    count,
    startOf: (number): WorkerStart => ({ place: { number, count }, values }),
    onReady(value) {
      // As serveAggregator sends it.
      const { url, metrics: monitoring } = value as { url: string; metrics: string | undefined };
      const at = monitoring === undefined ? undefined : { url: monitoring };
      io.stdout.write(listeningLine({ url }, at, values.json));
    },
    onOutput: (stream, lines) => io[stream].write(lines),
    onEnd: (number) => metrics.end(number),
    onEvent: (level, message, members) => log.event(level, message, members),
    async join(what, answers) {
      if (what !== "metrics") return [...answers.values()];
      for (const [number, snapshot] of answers) metrics.take(number, snapshot as MetricsSnapshot);
      return metrics.text(await registry.getMetricsAsJSON());
    },
    graceMs: values.grace,
  });
  const registry = workerMetrics(supervisor);
  const { signal } = io.interrupt;
  const stop = (): void => supervisor.stop();
  const offHangUp = io.onHangUp?.(() => supervisor.reload());
  signal.addEventListener("abort", stop, { once: true });
  try {
    const running = supervisor.run();
    if (signal.aborted) stop();
    const { reason } = await running;
    return reason === "stopped" ? ExitCode.ok : ExitCode.failed;
  } finally {
    signal.removeEventListener("abort", stop);
    offHangUp?.();
    log.flush();
  }
}

function workerMetrics(supervisor: Supervisor): Registry {
  const registry = new Registry();
  registry.registerMetric(
    new Gauge({
      name: "mementomap_workers",
      help: "Worker processes that serve.",
      registers: [],
      collect() {
        this.set(supervisor.running);
      },
    }),
  );
  registry.registerMetric(
    new Counter({
      name: "mementomap_worker_restarts_total",
      help: "Worker processes that ended and were replaced.",
      registers: [],
      collect() {
        this.reset();
        this.inc(supervisor.restarts);
      },
    }),
  );
  return registry;
}
