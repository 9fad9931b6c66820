import type { JSX } from "preact";
import { ServerContent } from "../parts/server-content.tsx";

export default function Find(): JSX.Element {
  return <ServerContent view="find" href={window.location.href} />;
}
