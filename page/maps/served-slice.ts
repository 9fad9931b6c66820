import type { MapSlice, SliceOptions } from "../../src/maps/explore/map-slice.ts";
import type { PackedHoldings } from "../../src/maps/explore/packed-holdings.ts";

export type Holdings = MapSlice | PackedHoldings;

/** A part of a map and its children, from `/explore` of a server. */
export async function servedSlice(
  address: URL,
  options: Omit<SliceOptions, "signal">,
  signal?: AbortSignal,
): Promise<Holdings> {
  const url = new URL(address);
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  const slice = await fetchJson<Holdings>(url.href, signal);
  // The server gives the address of the next children.
  if (slice.form === "packed" || slice.next === null) return slice;
  return { ...slice, next: new URLSearchParams(slice.next).get("from") };
}

/** What a server of ours answers; its reason where it refuses. */
export async function fetchJson<Body>(url: string, signal?: AbortSignal): Promise<Body> {
  const response = await fetch(url, {
    headers: { Accept: "application/json" },
    ...(signal === undefined ? {} : { signal }),
  });
  const body = (await response.json()) as Body & { readonly detail?: string }; // our own server's
  if (!response.ok) throw new Error(body.detail ?? `status ${response.status}`);
  return body;
}
