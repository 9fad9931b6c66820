import type { JSX } from "preact";

/** The box for an address; what is in it is told with every key. */
export function UrlForm(props: {
  readonly label: string;
  readonly button: string;
  readonly value: string;
  readonly action: string;
  readonly onType: (text: string) => void;
  readonly onSubmit: () => void;
}): JSX.Element {
  return (
    <form
      action={props.action}
      method="get"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        props.onSubmit();
      }}
    >
      <label for="url">{props.label}</label>
      <input
        id="url"
        name="url"
        type="text"
        inputMode="url"
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        maxLength={8192}
        required
        dir="ltr"
        placeholder="https://example.org/news"
        value={props.value}
        onInput={({ currentTarget }) => props.onType(currentTarget.value)}
      />
      <button type="submit">{props.button}</button>
    </form>
  );
}
