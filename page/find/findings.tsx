import type { JSX } from "preact";
import { readLearntReason } from "../../src/aggregate/learn/learnt-reason.ts";
import { type Count, tryParseFrequency } from "../../src/ukvs/frequency.ts";
import { PlainText } from "../parts/uri.tsx";
import { VerdictBadge, VerdictShape } from "../parts/verdict.tsx";
import { type Text, useText } from "../text.ts";
import type { Finding } from "./ask.ts";
import { VERDICTS } from "./verdict.ts";

type FindText = Text<"find">;

/** The number of archives for each verdict. */
export function Summary({ findings }: { readonly findings: readonly Finding[] }): JSX.Element {
  const text = useText("find");
  const stems = [
    ["held", "sumHeld"],
    ["possibly", "sumPossibly"],
    ["not-held", "sumNot"],
    ["not-known", "sumUnknown"],
  ] as const;
  return (
    <ul class="summary headline plain-list flow">
      {stems.map(([verdict, stem]) => {
        const count = findings.filter((each) => each.verdict === verdict).length;
        return count === 0 ? null : (
          <li key={verdict} class={`tone-${verdict}`}>
            <VerdictShape verdict={verdict} />
            {text.count(stem, count)}
          </li>
        );
      })}
    </ul>
  );
}

/** The findings for each archive. */
export function Findings({ findings }: { readonly findings: readonly Finding[] }): JSX.Element {
  const text = useText("find");
  return (
    <ol class="findings plain-list">
      {findings.map((finding) => {
        const { id, name, verdict, key, frequency = "", decision, replay, timeMap } = finding;
        const why = learntText(decision?.why, text);
        const links = [
          [replay, text("replay")],
          [timeMap, text("timemap")],
        ] as const;
        return (
          <li key={id} class={`finding box tone-${verdict}`}>
            <div class="card-head">
              <h3>
                <PlainText value={name} />
              </h3>
              <VerdictBadge verdict={verdict} />
            </div>
            <p>{sentenceOf(finding, text)}</p>
            {key !== undefined && (
              <p class="hint">
                {text("decided")}{" "}
                <code>
                  <PlainText value={`${key} ${frequency}`.trim()} />
                </code>
              </p>
            )}
            {why !== undefined && (
              <p class="hint">
                <PlainText value={why} />
              </p>
            )}
            <p class="finding-links flow">
              {links.map(
                ([href, words]) =>
                  href !== undefined && (
                    <a key={words} href={href} rel="nofollow noreferrer">
                      {words}
                    </a>
                  ),
              )}
              {decision !== undefined && (
                <small>{text(decision.asked ? "wouldAsk" : "wouldSkip")}</small>
              )}
            </p>
          </li>
        );
      })}
    </ol>
  );
}

/** The learnt statistics behind a decision; empty if there are none, which the reason says already. */
function learntText(why: string | undefined, text: FindText): string | undefined {
  if (why === undefined) return undefined;
  const learnt = readLearntReason(why);
  if (learnt === undefined) return why;
  if (learnt.kind !== "others") {
    return learnt.kind === "unknown" ? undefined : text(`l-${learnt.kind}`);
  }
  const { hits, asked, prefix = "" } = learnt;
  return text(prefix === "" ? "l-others" : "l-othersUnder", { hits, asked, prefix });
}

function sentenceOf(finding: Finding, text: FindText): string {
  const { key, frequency = "", verdict, isPacked, decision } = finding;
  const reason = decision?.reason;
  const because = reason === undefined ? undefined : (text.find(`r-${reason}`) ?? reason);
  if (key === undefined) {
    const isUnknown = verdict === "not-known" && reason === "likely";
    return isUnknown ? text("r-no-map") : (because ?? text("none"));
  }
  if (verdict === "not-held" && reason !== "in-map") return because ?? text("void");
  const first = text(isPacked ? "packed" : key.endsWith("*") ? "covered" : "exact");
  const sentence = reason === "in-map" ? first : (because ?? first);
  return `${sentence} ${countSentence(key, frequency, text)}`;
}

/** What the frequency counts: captures of the page, or of everything that a wildcard covers. */
function countSentence(key: string, frequency: string, text: FindText): string {
  const { mementos, originals } = tryParseFrequency(frequency) ?? {};
  const captures = mementos && bounded(mementos, "captures", text);
  const pages = originals && bounded(originals, "pages", text);
  const amount =
    captures !== undefined && pages !== undefined
      ? text("ofPages", { captures, pages })
      : (captures ?? pages ?? text("unsaid"));
  if (!key.endsWith("*")) return text("itHas", { amount });
  const [stem, name] = coveredPart(key);
  return `${text(stem, { name, amount })} ${text("notSaid")}`;
}

function bounded({ value, bound }: Count, stem: "captures" | "pages", text: FindText): string {
  const amount = text.count(stem, value);
  return bound === "exact" ? amount : text(bound, { amount });
}

/** The scope of a wildcard key: a top-level domain, a site, or a folder. */
function coveredPart(key: string): ["allHas" | "siteHas" | "folderHas", name: string] {
  const [hosts = "", path] = key.split(")", 2);
  const labels = hosts.split(",").filter((label) => label !== "*" && label !== "");
  const host = labels.reverse().join(".");
  if (path === undefined) return ["allHas", host];
  const folder = path.slice(0, -1);
  return folder === "/" ? ["siteHas", host] : ["folderHas", host + folder];
}

/** The legend of verdicts. */
export function Legend(): JSX.Element {
  const text = useText("find");
  return (
    <dl class="verdict-legend">
      {VERDICTS.map((verdict) => (
        <div key={verdict} class="flow">
          <dt>
            <VerdictBadge verdict={verdict} />
          </dt>
          <dd>{text(`m-${verdict}`)}</dd>
        </div>
      ))}
    </dl>
  );
}
