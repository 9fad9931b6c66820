import { type ComponentChild, h, type JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ViewName } from "../../src/page/page-data.ts";
import { FIRST } from "../first-content.ts";

/**
 * Shows what the server renders of a view, and asks for it again every so many milliseconds. Only
 * what has changed is touched, so that focus and selection stay.
 */
export function ServerContent(props: {
  readonly view: ViewName;
  readonly href: string;
  readonly everyMs?: number | undefined;
}): JSX.Element {
  const { view, href, everyMs } = props;
  const [children, setChildren] = useState(() =>
    FIRST.view === view ? childrenOf(FIRST.main) : [],
  );
  useEffect(() => {
    const stop = new AbortController();
    const refresh = async (): Promise<void> => {
      if (document.hidden) return;
      const headers = { Accept: "text/html" };
      const response = await fetch(href, { headers, signal: stop.signal });
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      if (response.ok) setChildren(childrenOf(page.getElementById("view")));
    };
    // The server may be away for a moment; what is shown stays.
    const again = (): void => void refresh().catch(() => undefined);
    if (children.length === 0) again();
    const timer = everyMs === undefined ? undefined : setInterval(again, everyMs);
    return () => {
      stop.abort();
      clearInterval(timer);
    };
  }, [href, everyMs]);
  return <>{children}</>;
}

/** The content of an element as nodes to render. Scripts and handlers are left out. */
function childrenOf(element: Element | null): ComponentChild[] {
  return Array.from(element?.childNodes ?? [], (node) => {
    if (node.nodeType === Node.TEXT_NODE) return node.textContent;
    if (!(node instanceof Element) || node.localName === "script") return null;
    const attributes = Array.from(node.attributes, ({ name, value }) => [name, value] as const);
    const safe = attributes.filter(([name]) => !name.startsWith("on"));
    return h(node.localName, Object.fromEntries(safe), ...childrenOf(node));
  });
}
