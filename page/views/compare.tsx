import type { JSX } from "preact";
import { ServerContent } from "../parts/server-content.tsx";

export default function Compare(): JSX.Element {
  return <ServerContent view="compare" href={window.location.href} />;
}
