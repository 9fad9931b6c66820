import type { ComponentChildren, JSX } from "preact";

/** Navigation to another part. */
export interface PlaceProps {
  /** The address of a part, if it has one. */
  readonly hrefOf: (prefix: string) => string | undefined;
  readonly onGo: (prefix: string) => void;
}

export function PartLink(
  props: PlaceProps & {
    readonly prefix: string;
    readonly class?: string;
    readonly children: ComponentChildren;
  },
): JSX.Element {
  const { prefix, hrefOf, onGo, children } = props;
  const follow = (event: MouseEvent): void => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    onGo(prefix);
  };
  return (
    <a class={props.class} href={hrefOf(prefix) ?? "#"} onClick={follow}>
      {children}
    </a>
  );
}
