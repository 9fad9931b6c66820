import { MementoMapError } from "../../errors.ts";
import { INPUT_FORMATS } from "../../input/detect.ts";
import type { CaptureFilter } from "../../input/filter.ts";
import { CaptureSieve, joinFilters, PAPER_PRESET } from "../../input/filter.ts";
import type { OptionTable, OptionValues } from "./command.ts";
import { parseDatetime } from "./datetime.ts";
import { choice } from "./choice.ts";

/** The options of commands that read indexes: what they are, and which captures count. */
export const INDEX_OPTIONS = {
  format: {
    type: "string",
    value: "NAME",
    default: "auto",
    help: `One of ${INPUT_FORMATS.join(", ")}.`,
    ...choice(INPUT_FORMATS),
  },
  status: {
    type: "string",
    value: "CODE",
    multiple: true,
    help: "Count only these status codes: 200, 3xx.",
    parse: parseStatus,
  },
  mime: {
    type: "string",
    value: "TYPE",
    multiple: true,
    help: "Count only these MIME types: text/html, image/*.",
  },
  from: {
    type: "string",
    value: "DATE",
    help: "Count captures from then on: 2010.",
    parse: parseDatetime,
  },
  to: {
    type: "string",
    value: "DATE",
    help: "Count captures up to and including then: 2012.",
    parse: parseDatetime,
  },
  exclude: {
    type: "string",
    value: "REGEX",
    multiple: true,
    help: "Leave out captures whose URI matches.",
    parse: parseExclude,
  },
  preset: {
    type: "string",
    value: "NAME",
    help: "paper: status 200, text/html, no robots.txt or sitemap.xml.",
    ...choice(["paper"]),
  },
} as const satisfies OptionTable;

/**
 * The filter that the options say.
 *
 * @throws MM_USAGE for one that nothing can pass, before any work is done.
 */
export function captureFilter(
  values: OptionValues<typeof INDEX_OPTIONS>,
  more: CaptureFilter = {},
): CaptureFilter {
  const filter = joinFilters(values.preset === undefined ? {} : PAPER_PRESET, {
    status: someOf(values.status),
    mime: someOf(values.mime),
    from: values.from,
    to: values.to,
    exclude: values.exclude,
    ...more,
  });
  const { from, to } = filter;
  if (from !== undefined && to !== undefined && from.slice(0, to.length) > to) {
    throw new MementoMapError(
      "MM_USAGE",
      `--from ${from} is after --to ${to}: no capture would be counted`,
    );
  }
  return filter;
}

/** Checked where it is typed, so that a message names the option. */
function parseStatus(text: string): string {
  void new CaptureSieve({ status: text.split(",") });
  return text;
}

function parseExclude(text: string): string {
  void new CaptureSieve({ exclude: [text] });
  return text;
}

/** `--status 200,301` is the same as giving the option twice. */
function someOf(values: readonly string[]): string[] | undefined {
  const list = values.flatMap((value) => value.split(","));
  return list.length === 0 ? undefined : list;
}
