import type { PolicyExplanation } from '@holdpoint/contract/wire';
import { Text } from '../../parts/text.tsx';
import { Verdict } from './verdict.tsx';

type Rule = PolicyExplanation['parts'][number]['policies'][number]['rules'][number];

const outcomes: Record<Rule['outcome'], string> = {
  decides: 'decides',
  no_match: 'does not match',
  uncertain: 'may match, which allows nothing',
  after: 'comes after the rule that decides',
};

/** The verdict on a call, and for each of its parts what every rule says. */
export const Explanation = ({ of: { verdict, parts } }: { of: PolicyExplanation }) => (
  <div className="stack">
    <p>
      <Verdict action={verdict.action} /> <Text>{verdict.reason}</Text>
    </p>
    {parts.map(({ part, policies }) => (
      <div key={`${part.kind} ${part.detail}`} className="stack tight">
        <h3>
          {part.kind} <Text most={300}>{part.detail}</Text>
        </h3>
        <ul className="small">
          {policies.flatMap(({ name, rules }) =>
            rules
              .filter(({ outcome }) => outcome === 'decides' || isWritten(name))
              .map((rule) => <RuleLine key={`${name} ${rule.index}`} policy={name} rule={rule} />),
          )}
        </ul>
      </div>
    ))}
  </div>
);

/** Built-in rules without a match would hide the written ones. */
const isWritten = (policy: string): boolean => policy !== 'builtin' && !policy.startsWith('toolset:');

const RuleLine = ({ policy, rule: { index, name, action, outcome, because } }: { policy: string; rule: Rule }) => (
  <li className={outcome === 'decides' ? '' : 'muted'}>
    <Text>{policy}</Text>: rule {index + 1}
    {name !== undefined && (
      <>
        {' '}
        (<Text>{name}</Text>)
      </>
    )}{' '}
    <Verdict action={action} /> {outcomes[outcome]}
    {because.length > 0 && (
      <>
        : <Text most={500}>{because.map(({ pointer, detail }) => `${pointer} ${detail}`).join('; ')}</Text>
      </>
    )}
  </li>
);
