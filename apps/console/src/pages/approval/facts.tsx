import type { Approval } from '@holdpoint/contract/wire';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { Text } from '../../parts/text.tsx';
import { Ago, Until } from '../../parts/time.tsx';

const effects = {
  read: 'nothing: it reads',
  workspace: "the run's own workspace, never your files",
  external: 'things outside the workspace',
} as const;

/** Why it is held, where it goes, and until when. */
export function Facts({ approval }: { approval: Approval }) {
  const { reason, rule, reaches, action, requested_at, expires_at, on_expiry, quorum, deciders } = approval;
  return (
    <dl className="facts">
      <Fact name="Held because">
        <Text escaped>{reason}</Text>
      </Fact>
      {rule !== null && (
        <Fact name="Rule">
          <Text>{rule.name ?? `number ${rule.index + 1}`}</Text>{' '}
          <span className="muted">
            of <Text>{policyName(rule.policy)}</Text>
            {rule.version !== undefined && ` version ${rule.version}`}
          </span>
        </Fact>
      )}
      <Fact name="May change">{effects[action.effect]}</Fact>
      {reaches !== null && (
        <Fact name="May reach">{reaches.length === 0 ? 'no host' : <Text>{reaches.join(', ')}</Text>}</Fact>
      )}
      <Fact name="Asked">
        <Ago at={requested_at} />
      </Fact>
      {approval.status === 'pending' && (
        <Fact name="Expires">
          <Until at={expires_at} />{' '}
          <span className="muted">{on_expiry === 'allow' ? 'and then runs' : 'and then does not run'}</span>
        </Fact>
      )}
      {quorum !== null && (
        <Fact name="Approved by">
          {quorum.approved} of {quorum.needed} <Text>{quorum.by.join(', ')}</Text>
        </Fact>
      )}
      {deciders.some(({ names }) => names !== undefined) && (
        <Fact name="Who decides">
          <Text>{deciders.flatMap(({ names = [] }) => names).join(', ')}</Text>
        </Fact>
      )}
      {approval.delegations.length > 0 && (
        <Fact name="Delegated to">
          <Text>{approval.delegations.map(({ to }) => to).join(', ')}</Text>
        </Fact>
      )}
      {approval.confirm === 'passkey' && <Fact name="Confirmed by">a passkey of who decides</Fact>}
      <Fact name="Run">
        <Link href={`/runs/${approval.run_id}`}>
          <Text escaped>{approval.run_title}</Text>
        </Link>
      </Fact>
    </dl>
  );
}

const policyName = (policy: string): string => {
  if (policy === 'run') return "the run's policy";
  if (policy === 'operator') return "the operator's policy";
  if (policy === 'builtin') return 'the built-in rules';
  return policy.startsWith('toolset:') ? `the toolset ${policy.slice(8)}` : `the policy ${policy}`;
};

const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
);
