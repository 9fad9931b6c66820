import { AggregatorRegistry } from "prom-client";
import type { MetricsSnapshot } from "../../http/metrics.ts";

/**
 * What several processes counted, as one: values are joined as each metric wants it.
 *
 * What a process counted before it ended goes on to count, as far as it was told: a counter that falls
 * is taken for one that began at 0 again.
 */
export class JoinedMetrics {
  /** By the numbers of processes. */
  readonly #last = new Map<number, MetricsSnapshot>();
  #ended: MetricsSnapshot = [];

  take(process: number, snapshot: MetricsSnapshot): void {
    this.#last.set(process, snapshot);
  }

  /** A process has ended. */
  end(process: number): void {
    const last = this.#last.get(process);
    if (last === undefined) return;
    this.#last.delete(process);
    const kept = last.filter(isCounted);
    // With the values: the type leaves them out.
    this.#ended = AggregatorRegistry.aggregate([
      this.#ended,
      kept,
    ]).getMetricsAsArray() as MetricsSnapshot;
  }

  /**
   * The text format of Prometheus.
   *
   * @param own metrics of the process that joins the others.
   */
  text(own: MetricsSnapshot): Promise<string> {
    return AggregatorRegistry.aggregate([...this.#last.values(), this.#ended, own]).metrics();
  }
}

/** Whether values are those of a counter or a histogram; others say how something is now. */
function isCounted({ type }: { readonly type: unknown }): boolean {
  return type === "counter" || type === "histogram";
}
