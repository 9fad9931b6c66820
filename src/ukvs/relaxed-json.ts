import JSON5 from "json5";

import { MementoMapError } from "../errors.ts";

/** Where there is none of these, every number is finite. */
const MAY_BE_INFINITE = /e\+?\d{3}|\d{300}|Infinity|NaN/i;

/**
 * Reads JSON, or the relaxed form of older files (`{keys: ["surt"]}`, read as JSON5).
 *
 * A member named `__proto__` is a member like any other. Numbers that JSON has no form for, such as
 * `1e999`, are refused: what is read can be written. Throws whatever the JSON5 reader throws;
 * callers know the line and wrap it.
 */
export function parseRelaxedJson(text: string): unknown {
  const value = parseEither(text);
  if (MAY_BE_INFINITE.test(text)) JSON.stringify(value, refuseInexpressible);
  return value;
}

function parseEither(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Strict JSON is the common case and much the faster reader; its complaint is of no use here.
    // The JSON5 reader prints a warning for a line separator that is not escaped.
    return JSON5.parse(text.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029"));
  }
}

/**
 * Writes strict JSON on one line, without characters that a record may not hold.
 *
 * @throws MementoMapError `MM_BAD_INPUT` for what JSON cannot express: no number stands for NaN.
 */
export function formatJson(value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value, refuseInexpressible);
  } catch (error) {
    throw new MementoMapError("MM_BAD_INPUT", "the value cannot be written as JSON", {
      cause: error,
    });
  }
  if (text === undefined) {
    throw new MementoMapError("MM_BAD_INPUT", `a ${typeof value} cannot be written as JSON`);
  }
  return text.replaceAll("\u007f", "\\u007f");
}

function refuseInexpressible(name: string, value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw new TypeError(`member ${JSON.stringify(name)} is ${value}`);
  }
  return value;
}

/** Whether a JSON value is an object and not an array or null. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
