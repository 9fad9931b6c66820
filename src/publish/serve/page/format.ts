/** A number for people: `3,900,000`; digits followed by a suffix of a count keep it. */
export function formatNumber(value: number | string): string {
  const [, digits = "", suffix = ""] = /^(\d+)([+~-]?)$/.exec(String(value)) ?? [];
  const words: Readonly<Record<string, string>> = {
    "": "",
    "+": "+",
    "-": " at most",
    "~": " about",
  };
  const grouped = digits.replace(/\B(?=(?:\d{3})+$)/g, ",");
  return digits === "" ? String(value) : `${grouped}${words[suffix]}`;
}

/** A number of bytes for people: `812 B`, `64.0 kB`, `1.1 GB`. */
export function formatBytes(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

/** `2018-09-03T13:27:52Z` → `3 Sep 2018`; what is no date stays as it is. */
export function formatDay(text: string): string {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) return text;
  const months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec";
  return `${date.getUTCDate()} ${months.split(" ")[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
}
