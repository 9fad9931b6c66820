import { getPublicSuffix } from "tldts";

const IP_ADDRESS = /^\d+,\d+,\d+,\d+$/;

/**
 * How many labels of a host, as a key writes it, do not name a site: 1 for `com,cnn`, 2 for
 * `uk,co,bbc`. By the public suffix list, private suffixes such as `com,github` not included:
 * whether what they host is asked for goes together more than for a registry.
 *
 * The labels of an IP address above the last are no sites either.
 */
export function suffixLabels(host: string): number {
  if (IP_ADDRESS.test(host)) return 3;
  const name = host.split(",").toReversed().join(".");
  const suffix = getPublicSuffix(name, { validateHostname: false, extractHostname: false });
  return suffix === null ? 1 : suffix.split(".").length;
}
