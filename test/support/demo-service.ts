import { readFileSync } from "node:fs";
import { onTestFinished } from "vitest";
import { openAggregator } from "../../src/aggregate/service/open-aggregator.ts";
import { AggregatorService } from "../../src/aggregate/service/aggregator-service.ts";
import { parseArchiveList } from "../../src/aggregate/route/archive.ts";
import { NodeClient } from "../../src/http/node-client.ts";
import { listen } from "../../src/http/listen.ts";
import type { DemoArchives } from "./demo-archives.ts";

/** Serves an aggregator of the archives until the test ends; returns its address. */
export async function servingDemo(demo: DemoArchives): Promise<string> {
  const archives = parseArchiveList(readFileSync(demo.list, "utf8"));
  const open = await openAggregator({ archives, sampleShare: 0 });
  const client = new NodeClient();
  const service = new AggregatorService({
    open,
    client,
  });
  const server = await listen(service, { port: 0 });
  onTestFinished(async () => {
    await server.stop();
    client.close();
    await open.close();
    demo.close();
  });
  return server.url;
}
