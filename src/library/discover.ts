import {
  discoverMap,
  type DiscoverOptions,
  type Discovery,
  webAddress,
} from "../publish/fetch/discover.ts";
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
