/** What a wildcard key stands for, as people name it. */
interface CoveredPart {
  readonly kind: "all" | "site" | "folder";
  /** `com`, `arxiv.org`, `arxiv.org/pdf/`. */
  readonly name: string;
}

/** What a wildcard key stands for: all of a domain, a site, or a folder of one. */
export function coveredPart(key: string): CoveredPart {
  const [hosts = "", path] = key.split(")", 2);
  const labels = hosts.split(",").filter((label) => label !== "*" && label !== "");
  const host = labels.reverse().join(".");
  if (path === undefined) return { kind: "all", name: host };
  const folder = path.slice(0, -1);
  return folder === "/" ? { kind: "site", name: host } : { kind: "folder", name: host + folder };
}
