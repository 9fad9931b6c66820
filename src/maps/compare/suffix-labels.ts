/** Number of labels in the public suffix of a host, in key order: 1 for `com,cnn`, 2 for `uk,co,bbc`. */
export type SuffixLabels = (host: string) => number;

const IP_ADDRESS = /^\d+,\d+,\d+,\d+$/;

/** Loads the list of public suffixes. Private suffixes such as `com,github` do not count. */
export async function loadSuffixLabels(): Promise<SuffixLabels> {
  const { getPublicSuffix } = await import("tldts");
  return (host) => {
    if (IP_ADDRESS.test(host)) return 3;
    const name = host.split(",").toReversed().join(".");
    // Hosts of keys are already validated.
    const suffix = getPublicSuffix(name, { validateHostname: false, extractHostname: false });
    return suffix === null ? 1 : suffix.split(".").length;
  };
}
