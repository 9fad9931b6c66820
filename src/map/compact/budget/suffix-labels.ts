const IP_ADDRESS = /^\d+,\d+,\d+,\d+$/;

/** The public suffix of a host name, `co.uk` of `www.bbc.co.uk`; null for none. */
export type PublicSuffix = (name: string) => string | null;

/** How the library of public suffixes is asked: hosts of keys are checked already. */
export const HOST_NAME_ALONE = { validateHostname: false, extractHostname: false } as const;

/**
 * How many labels of a host, as a key writes it, do not name a site: 1 for `com,cnn`, 2 for
 * `uk,co,bbc`. By the public suffix list, private suffixes such as `com,github` not included:
 * whether what they host is asked for goes together more than for a registry.
 *
 * The labels of an IP address above the last are no sites either.
 */
export function suffixLabels(host: string, publicSuffix: PublicSuffix): number {
  if (IP_ADDRESS.test(host)) return 3;
  const suffix = publicSuffix(host.split(",").toReversed().join("."));
  return suffix === null ? 1 : suffix.split(".").length;
}
