import type { SliceOptions } from "../../src/maps/explore/map-slice.ts";

/** What the page asks the worker. */
export type WorkerRequest = { readonly call: number } & WorkerCall;

export type WorkerCall =
  | { readonly kind: "open"; readonly map: string; readonly source: File | string }
  | { readonly kind: "lookup"; readonly map: string; readonly uri: string }
  | { readonly kind: "explore"; readonly map: string; readonly options: SliceOptions }
  | { readonly kind: "compare"; readonly maps: readonly string[] }
  | { readonly kind: "close"; readonly map: string };

/** What it answers: how far it is, then a result or an error. */
export type WorkerAnswer = { readonly call: number } & (
  | { readonly progress: number }
  | { readonly result: unknown }
  | { readonly error: { readonly message: string; readonly code: string | null } }
);

/** What is known of a map that was opened. */
export interface MapAbout {
  readonly name: string | null;
  readonly archive: string | null;
  readonly rows: number;
  readonly isPacked: boolean;
}
