import { Agent, get, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { listen } from "../../src/http/listen.ts";
import { until } from "../support/until.ts";

/** What an answer says, over a connection that is kept. */
function ask(url: string): { readonly answer: Promise<string> } {
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  const answer = new Promise<string>((resolve) => {
    get(url, { agent }, (response) => {
      const retry = response.headers["retry-after"] ?? "none";
      response.resume().once("end", () => resolve(`${response.statusCode} ${retry}`));
    }).once("error", () => resolve("closed"));
  });
  return { answer };
}

it("answers connections beyond the limit with 503, closes more, and takes new ones for idle ones", async () => {
  const waiting: ServerResponse[] = [];
  const listening = await listen(
    {
      handle: (_, response) => waiting.push(response) > 0,
      handleUnknown: () => undefined,
    },
    { port: 0, limits: { maxConnections: 4 } },
  );
  onTestFinished(() => listening.stop());
  const first = Array.from({ length: 4 }, () => ask(listening.url));
  await until(() => waiting.length === 4);
  expect(await ask(listening.url).answer).toBe("503 1");
  let closed = 0;
  const crowd = Array.from({ length: 12 }, () =>
    connect(Number(new URL(listening.url).port), "127.0.0.1").on("close", () => (closed += 1)),
  );
  // Two more than the limit are kept for their answers.
  await until(() => closed === 10);
  for (const socket of crowd) socket.destroy();
  await until(() => closed === 12);
  for (const response of waiting) response.end("here");
  await Promise.all(first.map(({ answer }) => answer));
  // Four connections are kept by their clients, without a request.
  const next = ask(listening.url);
  await until(() => waiting.length === 5);
  waiting[4]?.end("here");
  expect(await next.answer).toBe("200 none");
});
