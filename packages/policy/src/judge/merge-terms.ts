import type { PolicyRule, Verdict } from '@holdpoint/contract';

type Terms = Pick<
  Verdict,
  'decisions' | 'deciders' | 'expires_s' | 'on_expiry' | 'preview' | 'confirm' | 'remind_after_s' | 'escalate'
>;

/** The terms of an approval for every rule: each rule must permit the decider, and nothing runs on expiry unless all agree. */
export function mergeTerms(rules: readonly PolicyRule[]): Terms {
  const offered = rules.flatMap(({ decisions }) => (decisions === undefined ? [] : [decisions]));
  const [first, ...others] = offered;
  const deciders = rules.flatMap((rule) => (rule.deciders === undefined ? [] : [rule.deciders]));
  const escalations = rules.flatMap(({ escalate }) => escalate ?? []);
  return {
    decisions: first && [
      ...new Set([...first.filter((one) => others.every((each) => each.includes(one))), 'reject' as const]),
    ],
    deciders:
      deciders.length === 0 ? undefined : [...new Map(deciders.map((one) => [JSON.stringify(one), one])).values()],
    expires_s: least(rules.map(({ expires_s }) => expires_s)),
    on_expiry: rules.every(({ on_expiry }) => on_expiry === 'allow') ? 'allow' : undefined,
    preview: rules.some(({ preview }) => preview === 'run') ? 'run' : undefined,
    confirm: rules.some(({ confirm }) => confirm === 'passkey') ? 'passkey' : undefined,
    remind_after_s: least(rules.map(({ remind_after_s }) => remind_after_s)),
    escalate: escalations.sort((a, b) => a.after_s - b.after_s)[0],
  };
}

function least(values: readonly (number | undefined)[]): number | undefined {
  const given = values.filter((value) => value !== undefined);
  return given.length === 0 ? undefined : Math.min(...given);
}
