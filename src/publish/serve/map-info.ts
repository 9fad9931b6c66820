import type { MapSurvey } from "../../maps/map-survey.ts";
import type { MapInfo } from "../../page/page-data.ts";
import type { UkvsHeaders } from "../../ukvs/header.ts";

/** Facts about a map that the map does not state. */
interface MapPlace {
  readonly id: string;
  /** The archive of the map, if it is not the publisher. */
  readonly archive?: string | undefined;
  readonly href: string;
  readonly modified: Date;
  readonly bytes: number;
}

/** The description of a map, from its headers. */
export function mapInfo({ meta, id }: UkvsHeaders, place: MapPlace): MapInfo {
  const { name, updated_at: updatedAt, replay } = meta;
  return {
    id: place.id,
    name: typeof name === "string" ? name : null,
    archive: place.archive ?? id ?? null,
    href: place.href,
    updatedAt: typeof updatedAt === "string" ? updatedAt : place.modified.toISOString(),
    bytes: place.bytes,
    records: 0,
    total: null,
    isPacked: false,
    domainCount: 0,
    topDomains: [],
    pages: 0,
    // As stated by the map, if it is a web address.
    replay: typeof replay === "string" && /^https?:\/\//i.test(replay) ? replay : null,
  };
}

/** The description of a map that was read completely. */
export function surveyedMapInfo(survey: MapSurvey, place: MapPlace): MapInfo {
  const { records, total, domainCount, topDomains, plan } = survey;
  return {
    ...mapInfo(plan.headers, place),
    records,
    total: total ?? null,
    domainCount,
    topDomains,
    pages: plan.pages.length,
  };
}
