import { type Explanation, type RuleExplanation, toolsetPrefix } from '@holdpoint/policy';
import { oneLine } from '../output/index.ts';

const outcomes: Record<RuleExplanation['outcome'], string> = {
  decides: 'decides',
  no_match: 'does not match',
  uncertain: 'may match, which allows nothing',
  after: 'comes after the rule that decides',
};

/** Lines about the deciding rule, and the reason why each other rule did not decide. */
export function explanationText({ verdict, parts }: Explanation, width: number): string[] {
  const { action, reason, confirm } = verdict;
  return [
    `${action.toUpperCase()}: ${oneLine(reason, width)}`,
    ...(confirm === 'passkey' ? ['Who releases it proves it with a passkey.'] : []),
    ...parts.flatMap(({ part, policies }) => [
      '',
      oneLine(`${part.kind}: ${part.detail}`, width),
      ...policies.flatMap(({ name, rules }) =>
        rules.filter(isShown(name)).flatMap((rule) => ruleLines(name, rule, width)),
      ),
    ]),
  ];
}

/** Built-in rules without a match would hide the rules of the file. `--json` has them. */
const isShown =
  (policy: string) =>
  ({ outcome }: RuleExplanation): boolean =>
    (policy !== 'builtin' && !policy.startsWith(toolsetPrefix)) || outcome === 'decides';

function ownerOf(policy: string): string {
  if (policy === 'builtin') return 'built-in rule';
  return policy.startsWith(toolsetPrefix) ? `rule of ${policy.slice(toolsetPrefix.length)}` : 'rule';
}

function ruleLines(
  policy: string,
  { index, name, action, outcome, because }: RuleExplanation,
  width: number,
): string[] {
  const title = `  ${ownerOf(policy)} ${index + 1}${name === undefined ? '' : ` (${name})`}, ${action}: ${outcomes[outcome]}`;
  return [title, ...because.map(({ pointer, detail }) => `      ${pointer}: ${detail}`)].map(
    (line) => `  ${oneLine(line.trim(), width)}`,
  );
}
