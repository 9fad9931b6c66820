import { checkPublisher, type Finding } from "../publish/fetch/check-publisher.ts";
import {
  discoverMap,
  type DiscoverOptions,
  type Discovery,
  webAddress,
} from "../publish/fetch/discover.ts";
import type { SignalOption } from "./maps.ts";
import type { Platform } from "./source.ts";

/** See `discoverMap` of the entries. */
export async function discoverOn(
  platform: Platform,
  address: string,
  options: DiscoverOptions,
): Promise<Discovery> {
  const { client, close } = platform.client(webAddress(address));
  try {
    return await discoverMap(client, address, options);
  } finally {
    close();
  }
}

/** See `checkPublisher` of `mementomap/node`. */
export async function* checkPublisherOn(
  platform: Platform,
  address: string,
  options: SignalOption,
): AsyncGenerator<Finding, void, undefined> {
  const { client, close } = platform.client(webAddress(address));
  try {
    yield* checkPublisher(client, address, options);
  } finally {
    close();
  }
}
