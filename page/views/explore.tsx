import type { JSX } from "preact";
import { ServerContent } from "../parts/server-content.tsx";

export default function Explore(): JSX.Element {
  return <ServerContent view="explore" href={window.location.href} />;
}
