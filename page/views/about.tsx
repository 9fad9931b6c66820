import type { JSX } from "preact";
import { PublishedMaps } from "../about/published-maps.tsx";
import { ServiceHealth } from "../about/service-health.tsx";
import { HEALTH_PATHS } from "../about/health.ts";
import { PAGE } from "../page-data.ts";

/** About: the health of an aggregator, or the maps of a publisher. */
export default function About(): JSX.Element {
  return PAGE.service === "aggregator" ? <ServiceHealth /> : <PublishedMaps />;
}

export function needs(): readonly string[] {
  return PAGE.service === "aggregator" ? HEALTH_PATHS : [];
}
