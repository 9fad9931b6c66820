import type { JSX } from "preact";
import { PAGE } from "../page-data.ts";
import { ServerContent } from "../parts/server-content.tsx";
import { hrefOf } from "../router.ts";

const EVERY_MS = 5000;

/** The dashboard of an aggregator, kept up to date; or what a publisher has. */
export default function About(): JSX.Element {
  const everyMs = PAGE.service === "aggregator" ? EVERY_MS : undefined;
  return <ServerContent view="about" href={hrefOf(PAGE, "about")} everyMs={everyMs} />;
}
