import type { ComponentChildren, JSX } from "preact";

/** A card with commands for a terminal, and a note below them. */
export function Commands(props: {
  readonly title: string;
  readonly commands: readonly string[];
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <section class="card">
      <h2>{props.title}</h2>
      <pre class="commands">
        {props.commands.map((command) => (
          <code key={command}>{command}</code>
        ))}
      </pre>
      <p class="hint">{props.children}</p>
    </section>
  );
}
