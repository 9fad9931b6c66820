import { expect } from "vitest";

/**
 * Follows the `self` and TimeGate links of a TimeMap, as clients do: both must begin with the address of
 * the service, and work.
 */
export async function followLinks(
  service: string,
  headers: Readonly<Record<string, string>> = {},
  at: (link: string) => string = (link) => link,
): Promise<void> {
  const map = await fetch(at(`${service}timemap/link/http://example.org/`), { headers });
  expect(map.status).toBe(200);
  const text = await map.text();
  for (const [relation, status] of [
    ["self", 200],
    ["timegate", 302],
  ] as const) {
    const [, link = ""] = new RegExp(`<([^>]*)>; ?rel="${relation}"`).exec(text) ?? [];
    expect(link.slice(0, service.length)).toBe(service);
    const answer = await fetch(at(link), { headers, redirect: "manual" });
    expect(`${relation} ${answer.status}`).toBe(`${relation} ${status}`);
    await answer.arrayBuffer();
  }
}
