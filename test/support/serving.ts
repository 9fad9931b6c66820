import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { listen, type Listening, type ListenOptions } from "../../src/http/listen.ts";
import {
  createPublisher,
  type Publisher,
  type PublisherOptions,
} from "../../src/publish/serve/publisher.ts";
import { scratchDir } from "./scratch.ts";

export const EXAMPLE_MAP = `!context ["https://git.io/mementomap"]
!fields {"keys":["surt"],"values":["frequency"]}
!id {"uri":"https://archive.example.org/"}
!meta {"name":"Example Archive","type":"MementoMap","updated_at":"2018-09-03T13:27:52Z"}
* 54321/20000
com,* 10000+
org,arxiv)/ 100
org,arxiv)/* 2500~/900
org,arxiv)/pdf/* 0
uk,co,bbc)/images/* 300+/20-
`;

export interface Serving {
  readonly url: string;
  readonly path: string;
  readonly folder: string;
  readonly publisher: Publisher;
  readonly server: Listening;
}

/** Serves a map on a free local port until the test ends. */
export async function serving(
  map: string | Uint8Array = EXAMPLE_MAP,
  options: Partial<PublisherOptions> & { readonly listen?: ListenOptions } = {},
  packed?: string,
): Promise<Serving> {
  const folder = scratchDir();
  const path = join(folder, "map.ukvs");
  writeFileSync(path, map);
  const publisher = await createPublisher({ path, packed }, { reloadEveryMs: 0, ...options });
  const server = await listen(publisher, { port: 0, ...options.listen });
  onTestFinished(async () => {
    await server.stop();
    await publisher.close();
  });
  return { url: server.url, path, folder, publisher, server };
}

/** Waits until the compressed copies of all maps are made. */
export async function copiesReady({ publisher }: Serving): Promise<void> {
  for (const { current } of publisher.site.maps) await current.prepareCopies();
}
