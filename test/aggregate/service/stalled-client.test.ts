import { once } from "node:events";
import { connect } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { aggregating, plainArchive } from "../../support/aggregating.ts";

const MANY = Array.from({ length: 200_000 }, (_, i) => String(20_050_101_000_000 + i));

it("a client that takes nothing of its answer does not keep others from theirs", async () => {
  const many = await plainArchive("many", MANY);
  const { url, service } = await aggregating([many], {
    service: { maxUnderWay: 1, stalledMs: 300 },
    listen: { limits: { idleTimeoutMs: 60_000 } },
  });
  const { hostname, port } = new URL(url);
  const client = connect(Number(port), hostname);
  client.on("error", () => undefined);
  onTestFinished(() => void client.destroy());
  await once(client, "connect");
  client.pause();
  client.write("GET /timemap/link/http://example.org/ HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await expect.poll(() => service.load.underWay).toBe(1);
  const answer = await fetch(`${url}/timemap/link/http://example.org/`);
  expect(answer.headers.get("x-memento-count")).toBe(String(MANY.length));
  // Slowly, but it is taken.
  let bytes = 0;
  for await (const chunk of answer.body ?? []) bytes += (chunk as Uint8Array).length;
  expect(bytes).toBeGreaterThan(10_000_000);
}, 30_000);
