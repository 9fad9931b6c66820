/** A peer that is ready to run, or the reason why it cannot be run here. */
export type Peer<T> =
  | { readonly peer: T; readonly missing?: undefined }
  | { readonly peer?: undefined; readonly missing: string };
