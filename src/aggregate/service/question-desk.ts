import type { Aggregation, Aggregator } from "../aggregator.ts";
import { MementoMapError, quote } from "../../errors.ts";
import type { RouteRequest } from "../route/decision.ts";
import { Admission, loopUtilization } from "./admission.ts";
import type { AggregatorExchange, AnswerStyle } from "./aggregator-exchange.ts";
import {
  answerDescription,
  answerMemento,
  answerNone,
  answerSummary,
  answerTimeGate,
  answerTimeMap,
} from "./answer-timemap.ts";
import { answerProxy, type MementoClient } from "./answer-proxy.ts";
import { NO_PREFERENCES } from "./preferences.ts";
import type { AggregatorTarget } from "./request-target.ts";

/** The targets that archives are asked for. */
export type QuestionTarget = Extract<
  AggregatorTarget,
  { readonly name: "timemap" | "timegate" | "memento" | "description" | "proxy" | "summary" }
>;

/** How questions are taken. Every member but the first two may be left out. */
export interface QuestionDeskOptions {
  readonly aggregator: Aggregator;
  /** Gets mementos for `/memento/proxy/`. */
  readonly client: MementoClient;
  /** What is asked of every request that does not say otherwise; looked at for each. */
  readonly defaults?: Omit<RouteRequest, "uri"> | undefined;
  /** Mementos of a page of a TimeMap; default 1 million, so that nearly all come whole. */
  readonly pageSize?: number | undefined;
  /** Bytes of a memento that is passed on; default 256 MiB. */
  readonly maxProxyBytes?: number | undefined;
  /** Questions that are worked on at once; default 256. Others wait. */
  readonly maxUnderWay?: number | undefined;
  /** How long a client may take nothing of a TimeMap; default 30 s. It keeps others from theirs. */
  readonly stalledMs?: number | undefined;
  /** Questions that may wait; default 20,000. More are answered 503. */
  readonly maxWaiting?: number | undefined;
}

/** Told of what becomes of questions. */
export interface DeskListener {
  /** Told of what should not have happened; it answers the request. */
  readonly onFault: (exchange: AggregatorExchange, error: unknown) => void;
  /** A question has its turn, after it waited for this long. */
  readonly onStart: (waitedSeconds: number) => void;
}

/**
 * Takes questions that archives are asked for, so many at a time, and answers them.
 *
 * A question keeps its place until its answer is written: what is under way bounds what is held.
 */
export class QuestionDesk {
  readonly admission: Admission;
  readonly #options: QuestionDeskOptions;
  readonly #style: AnswerStyle;
  readonly #onFault: DeskListener["onFault"];
  readonly #onStart: DeskListener["onStart"];

  constructor(
    options: QuestionDeskOptions,
    style: AnswerStyle,
    { onFault, onStart }: DeskListener,
  ) {
    const { maxUnderWay = 256, maxWaiting = 20_000 } = options;
    this.admission = new Admission({
      most: maxUnderWay,
      mostWaiting: maxWaiting,
      utilization: loopUtilization(),
    });
    this.#options = options;
    this.#style = style;
    this.#onFault = onFault;
    this.#onStart = onStart;
  }

  /**
   * Asks archives in its turn, and answers.
   *
   * @param datetime the moment that is asked for; undefined for all mementos.
   * @returns false, with nothing done, when too many wait already.
   * @throws as `routeRequest` does.
   */
  take(
    exchange: AggregatorExchange,
    target: QuestionTarget,
    datetime: number | undefined,
  ): boolean {
    const request = this.routeRequest(exchange, target.original);
    const cameAt = performance.now();
    const entered = this.admission.enter(() => {
      this.#onStart((performance.now() - cameAt) / 1000);
      void this.#work(exchange, target, request, datetime);
    });
    if (entered === "full") return false;
    if (entered !== "started") exchange.signal.addEventListener("abort", entered);
    return true;
  }

  /**
   * What a router is asked for a URI, by the wishes of the client.
   *
   * @throws MM_BAD_INPUT when it wishes for archives of which there is none.
   */
  routeRequest({ preferences }: AggregatorExchange, uri: string): RouteRequest {
    const { defaults } = this.#options;
    const { route } = preferences;
    if (route === NO_PREFERENCES.route) return { ...defaults, uri };
    const { archives } = this.#options.aggregator.router;
    if (route.only !== undefined && !archives.some(({ id }) => route.only?.includes(id))) {
      throw new MementoMapError(
        "MM_BAD_INPUT",
        `there is no archive ${route.only.map((id) => quote(id)).join(", ")}; /archives.json lists those there are`,
      );
    }
    return { ...defaults, ...route, uri };
  }

  async #work(
    exchange: AggregatorExchange,
    target: QuestionTarget,
    route: RouteRequest,
    datetime: number | undefined,
  ): Promise<void> {
    try {
      const { aggregator } = this.#options;
      const { cacheControl, isBroadcast } = exchange.preferences;
      const request = { ...route, cacheControl, isBroadcast, signal: exchange.signal };
      const aggregation = await (datetime === undefined
        ? aggregator.timeMap(request)
        : aggregator.timeGate({ ...request, datetime }));
      await this.#respond(exchange, target, aggregation, datetime);
    } catch (error) {
      this.#onFault(exchange, error);
    } finally {
      this.admission.leave();
    }
  }

  #respond(
    exchange: AggregatorExchange,
    target: QuestionTarget,
    aggregation: Aggregation,
    datetime: number = 0,
  ): Promise<void> | void {
    const style = this.#style;
    if (aggregation.mementos.count === 0) return answerNone(exchange, aggregation, style);
    switch (target.name) {
      case "timemap": {
        const { pageSize = 1_000_000, stalledMs = 30_000 } = this.#options;
        return answerTimeMap(exchange, aggregation, style, { ...target, pageSize, stalledMs });
      }
      case "summary":
        return answerSummary(exchange, aggregation, style);
      case "timegate":
        return answerTimeGate(exchange, aggregation, style, datetime);
      case "memento":
        return answerMemento(exchange, aggregation, style, datetime);
      case "description":
        return answerDescription(exchange, aggregation, style, target);
      case "proxy": {
        const { client, maxProxyBytes = 256 * 2 ** 20 } = this.#options;
        const means = { client, maxBytes: maxProxyBytes };
        return answerProxy(exchange, aggregation, datetime, style, means);
      }
    }
  }
}
