import type { JSX } from "preact";

/** A name, its value, and a note on the value. */
export type Fact = readonly [name: string, value: string, note?: string];

/** Values with their names above them. */
export function Facts(props: {
  readonly facts: readonly Fact[];
  readonly class?: string;
}): JSX.Element {
  return (
    <dl class={`facts ${props.class ?? ""}`}>
      {props.facts.map(([name, value, note = ""]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {value}
            {note !== "" && <small>{note}</small>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
