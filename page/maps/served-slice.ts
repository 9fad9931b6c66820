import type { MapSlice, SliceOptions } from "../../src/maps/explore/map-slice.ts";
import type { PackedHoldings } from "../../src/maps/explore/packed-holdings.ts";

export type Holdings = MapSlice | PackedHoldings;

/** A part of a map and its children, from `/explore` of a server. */
export async function servedSlice(address: URL, options: SliceOptions): Promise<Holdings> {
  const url = new URL(address);
  for (const [name, value] of Object.entries(options)) url.searchParams.set(name, String(value));
  const slice = await fetchJson<Holdings>(url.href);
  // `next` is the address of the next children.
  if (slice.form === "packed" || slice.next === null) return slice;
  return { ...slice, next: new URLSearchParams(slice.next).get("from") };
}

/** Fetches JSON from our own server; throws its reason for an error status. */
export async function fetchJson<Body>(url: string, signal?: AbortSignal): Promise<Body> {
  const headers = { Accept: "application/json" };
  const response = await fetch(url, signal === undefined ? { headers } : { headers, signal });
  const body = (await response.json()) as Body & { readonly detail?: string }; // our own server's
  if (!response.ok) throw new Error(body.detail ?? `status ${response.status}`);
  return body;
}
