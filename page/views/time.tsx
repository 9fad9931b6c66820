import type { JSX } from "preact";
import { ServerContent } from "../parts/server-content.tsx";

export default function Time(): JSX.Element {
  return <ServerContent view="time" href={window.location.href} />;
}
