import type { JSX } from "preact";
import { coveredPart } from "../../src/page/key-words.ts";
import { type LearntReason, readLearntReason } from "../../src/page/learnt-reason.ts";
import type { Verdict } from "../../src/page/verdict.ts";
import { type Count, tryParseFrequency } from "../../src/ukvs/frequency.ts";
import { FIND } from "../messages.ts";
import { PlainText } from "../parts/uri.tsx";
import { VerdictBadge, VerdictShape } from "../parts/verdict.tsx";
import { type Text, useText } from "../text.ts";
import type { Finding } from "./ask.ts";

type FindText = Text<keyof (typeof FIND)["en"]>;

/** How many archives hold the page, may hold it, do not, or are not known. */
export function Summary({ findings }: { readonly findings: readonly Finding[] }): JSX.Element {
  const text = useText(FIND);
  const stems = [
    ["held", "sumHeld"],
    ["possibly", "sumPossibly"],
    ["not-held", "sumNot"],
    ["not-known", "sumUnknown"],
  ] as const;
  const parts = stems.flatMap(([verdict, stem]) => {
    const count = findings.filter((each) => each.verdict === verdict).length;
    return count === 0 ? [] : [{ verdict, words: text.count(stem, count) }];
  });
  return (
    <ul class="summary">
      {parts.map(({ verdict, words }) => (
        <li key={verdict} class={`sum-${verdict}`}>
          <VerdictShape verdict={verdict} />
          {words}
        </li>
      ))}
    </ul>
  );
}

/** What is known of each archive. */
export function Findings({ findings }: { readonly findings: readonly Finding[] }): JSX.Element {
  const text = useText(FIND);
  return (
    <ol class="findings">
      {findings.map((finding) => (
        <li key={finding.id} class={`finding edge-${finding.verdict}`}>
          <div class="finding-head">
            <h3>
              <PlainText value={finding.name} />
            </h3>
            <VerdictBadge verdict={finding.verdict} />
          </div>
          <p>{sentenceOf(finding, text)}</p>
          {finding.key !== undefined && (
            <p class="decided-by">
              {text("decided")}{" "}
              <code>
                <PlainText value={`${finding.key} ${finding.frequency ?? ""}`.trim()} />
              </code>
            </p>
          )}
          <Why why={finding.why} />
          <p class="finding-links">
            {finding.replay !== undefined && (
              <a href={finding.replay} rel="nofollow noreferrer">
                {text("replay")}
              </a>
            )}
            {finding.timeMap !== undefined && (
              <a href={finding.timeMap} rel="nofollow noreferrer">
                {text("timemap")}
              </a>
            )}
            {finding.isAsked !== undefined && (
              <span class="asked-note">{text(finding.isAsked ? "wouldAsk" : "wouldSkip")}</span>
            )}
          </p>
        </li>
      ))}
    </ol>
  );
}

/** What was learnt that decided; nothing where nothing is known, which is said already. */
function Why({ why }: Pick<Finding, "why">): JSX.Element | null {
  const text = useText(FIND);
  const learnt = why === undefined ? undefined : readLearntReason(why);
  if (why === undefined || learnt?.kind === "unknown") return null;
  return (
    <p class="decided-by">
      <PlainText value={learnt === undefined ? why : learntText(learnt, text)} />
    </p>
  );
}

function learntText(learnt: LearntReason, text: FindText): string {
  if (learnt.kind !== "others") return text(`l-${learnt.kind}`);
  const { hits, asked, prefix = "" } = learnt;
  return text(prefix === "" ? "l-others" : "l-othersUnder", { hits, asked, prefix });
}

function sentenceOf(finding: Finding, text: FindText): string {
  const { reason, key, frequency = "", verdict } = finding;
  if (key === undefined) {
    const isUnknown = verdict === "not-known" && reason === "likely";
    return reason === undefined ? text("none") : reasonText(isUnknown ? "no-map" : reason, text);
  }
  if (verdict === "not-held" && reason !== "in-map")
    return reason === undefined ? text("void") : reasonText(reason, text);
  const first = finding.isPacked ? "packed" : key.endsWith("*") ? "covered" : "exact";
  const because =
    reason === undefined || reason === "in-map" ? text(first) : reasonText(reason, text);
  return `${because} ${countSentence(key, frequency, text)}`;
}

function reasonText(reason: string, text: FindText): string {
  const key = `r-${reason}`;
  return key in FIND.en ? text(key as Parameters<FindText>[0]) : reason;
}

/** What the frequency counts: captures of the page, or of all that a wildcard stands for. */
function countSentence(key: string, frequency: string, text: FindText): string {
  const { mementos, originals } = tryParseFrequency(frequency) ?? {};
  const captures = mementos === undefined ? undefined : bounded(mementos, "captures", text);
  const pages = originals === undefined ? undefined : bounded(originals, "pages", text);
  const amount =
    captures !== undefined && pages !== undefined
      ? text("ofPages", { captures, pages })
      : (captures ?? pages ?? text("unsaid"));
  if (!key.endsWith("*")) return text("itHas", { amount });
  const { kind, name } = coveredPart(key);
  return `${text(`${kind}Has`, { name, amount })} ${text("notSaid")}`;
}

function bounded({ value, bound }: Count, stem: "captures" | "pages", text: FindText): string {
  const amount = text.count(stem, value);
  return bound === "exact" ? amount : text(bound, { amount });
}

/** What each verdict means. */
export function Legend(): JSX.Element {
  const text = useText(FIND);
  const all: readonly Verdict[] = ["held", "possibly", "not-held", "not-known"];
  return (
    <dl class="verdict-legend">
      {all.map((verdict) => (
        <div key={verdict}>
          <dt>
            <VerdictBadge verdict={verdict} />
          </dt>
          <dd>{text(`m-${verdict}`)}</dd>
        </div>
      ))}
    </dl>
  );
}
