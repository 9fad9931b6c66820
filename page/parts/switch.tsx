import type { JSX } from "preact";

/** The heading of a card, with toggle buttons of which one is pressed. */
export function CardSwitch<Value extends string>(props: {
  readonly title: string;
  readonly choices: readonly (readonly [value: Value, words: string])[];
  readonly value: Value;
  readonly onChoose: (value: Value) => void;
}): JSX.Element {
  const { title, choices, value, onChoose } = props;
  return (
    <div class="card-head">
      <h2>{title}</h2>
      <div class="flow tight" role="group" aria-label={title}>
        {choices.map(([each, words]) => (
          <button
            key={each}
            type="button"
            class="quiet"
            aria-pressed={each === value}
            onClick={() => onChoose(each)}
          >
            {words}
          </button>
        ))}
      </div>
    </div>
  );
}
