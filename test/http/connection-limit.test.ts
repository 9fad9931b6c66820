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

/** A server of four connections, which keeps responses until the test ends them. */
async function fourConnections(): Promise<{
  readonly url: string;
  readonly port: number;
  readonly waiting: readonly ServerResponse[];
}> {
  const waiting: ServerResponse[] = [];
  const listening = await listen(
    {
      handle: (_, response) => waiting.push(response) > 0,
      handleUnknown: () => undefined,
    },
    { port: 0, limits: { maxConnections: 4 } },
  );
  onTestFinished(() => listening.stop());
  return { url: listening.url, port: Number(new URL(listening.url).port), waiting };
}

it("answers connections beyond the limit with 503, closes more, and takes new ones for idle ones", async () => {
  const { url, port, waiting } = await fourConnections();
  const first = Array.from({ length: 4 }, () => ask(url));
  await until(() => waiting.length === 4);
  expect(await ask(url).answer).toBe("503 1");
  let closed = 0;
  const crowd = Array.from({ length: 12 }, () =>
    connect(port, "127.0.0.1").on("close", () => (closed += 1)),
  );
  // Two more than the limit are kept for their answers.
  await until(() => closed === 10);
  for (const socket of crowd) socket.destroy();
  await until(() => closed === 12);
  for (const response of waiting) response.end("here");
  await Promise.all(first.map(({ answer }) => answer));
  // Four connections are kept by their clients, without a request.
  const next = ask(url);
  await until(() => waiting.length === 5);
  waiting[4]?.end("here");
  expect(await next.answer).toBe("200 none");
});

it("closes the connection that has waited longest for its request, not that of another client", async () => {
  const { url, port, waiting } = await fourConnections();
  const closed: number[] = [];
  for (let each = 0; each < 4; each += 1) {
    const socket = connect(port, "127.0.0.1").on("close", () => closed.push(each));
    onTestFinished(() => void socket.destroy());
    await new Promise((resolve) => {
      socket.write("GET / HTTP/1.1\r\nHost: a.example\r\n", resolve);
    });
  }
  const asked = [ask(url), ask(url)];
  await until(() => waiting.length === 2 && closed.length === 2);
  expect(closed).toEqual([0, 1]);
  for (const response of waiting) response.end("here");
  expect(await Promise.all(asked.map(({ answer }) => answer))).toEqual(["200 none", "200 none"]);
});
