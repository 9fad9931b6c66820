import { MementoMapError, quote } from "../../errors.ts";

const DIGITS = /^\d{4}(?:\d\d){0,5}$/;
const ISO_DATE = /^(\d{4})(?:-(\d\d)(?:-(\d\d))?)?$/;
const ISO_TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/;
const RFC_1123 = /^[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/;

/**
 * Parses a point in time, or a longer span such as a year, into 4 to 14 digits of YYYYMMDDhhmmss.
 *
 * Takes those digits themselves, ISO 8601 (`2014`, `2014-03`, `2014-03-05`,
 * `2014-03-05T10:11:12Z`) and the form of HTTP headers (`Wed, 05 Mar 2014 10:11:12 GMT`).
 *
 * @throws `MM_USAGE`
 */
export function parseDatetime(text: string): string {
  if (DIGITS.test(text) && isOnCalendar(text)) return text;
  const date = ISO_DATE.exec(text)?.slice(1).join("") ?? "";
  if (date !== "" && isOnCalendar(date)) return date;
  if (ISO_TIME.test(text) || RFC_1123.test(text)) {
    const time = new Date(text);
    const days = ISO_TIME.test(text) ? text.slice(0, 10).replaceAll("-", "") : "";
    if (!Number.isNaN(time.getTime()) && (days === "" || isOnCalendar(days))) return digitsOf(time);
  }
  throw new MementoMapError(
    "MM_USAGE",
    `not a datetime: ${quote(text)}; write 4, 6, 8, 10, 12 or 14 digits of YYYYMMDDhhmmss, or 2014-03-05T10:11:12Z`,
  );
}

/** Whether the digits name a time that exists; `20140230` does not. */
function isOnCalendar(digits: string): boolean {
  const full = digits + "00000101000000".slice(digits.length);
  const parts = full.match(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/)?.slice(1) ?? [];
  const [year, month, day, hour, minute, second] = parts;
  const time = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return !Number.isNaN(time.getTime()) && digitsOf(time).startsWith(digits);
}

function digitsOf(time: Date): string {
  return time.toISOString().slice(0, 19).replaceAll(/\D/g, "");
}
