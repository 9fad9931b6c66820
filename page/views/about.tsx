import type { JSX } from "preact";
import { PublishedMaps } from "../about/published-maps.tsx";
import { ServiceHealth } from "../about/service-health.tsx";
import { PAGE } from "../page-data.ts";
import "../about/about.css";

/** About: how an aggregator is, or which maps a publisher has. */
export default function About(): JSX.Element {
  return PAGE.service === "aggregator" ? <ServiceHealth /> : <PublishedMaps />;
}
