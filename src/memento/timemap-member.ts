import { isJsonObject } from "../ukvs/relaxed-json.ts";
import { tryParseDatetime } from "./datetime.ts";
import type { TimeMapDraft, TimeMapLink } from "./timemap-reading.ts";

/** Takes a member of a JSON TimeMap, or of the `!meta` lines of one in CDXJ, if it is of use. */
export function takeMember(draft: TimeMapDraft, name: string, value: unknown): void {
  if (name === "original_uri" && typeof value === "string") draft.takeOriginal(value);
  if (name === "timegate_uri" && typeof value === "string") draft.timegate ??= value;
  if (name === "self" && typeof value === "string") {
    draft.pages.push({
      uri: value,
      rel: "self",
      type: undefined,
      from: undefined,
      until: undefined,
    });
  }
  if (name === "timemap_index" && Array.isArray(value)) {
    for (const page of value as unknown[]) takePage(draft, "timemap", page);
  }
  if (name === "pages" && isJsonObject(value)) {
    takePage(draft, "prev", value["prev"]);
    takePage(draft, "next", value["next"]);
  }
}

function takePage(draft: TimeMapDraft, rel: TimeMapLink["rel"], page: unknown): void {
  if (!isJsonObject(page) || typeof page["uri"] !== "string") return;
  const { uri, from, until } = page;
  draft.pages.push({
    uri,
    rel,
    type: undefined,
    from: typeof from === "string" ? tryParseDatetime(from) : undefined,
    until: typeof until === "string" ? tryParseDatetime(until) : undefined,
  });
}
