import type { RuleProposal, RuleProposals } from '@holdpoint/contract/wire';
import { type FormEvent, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { ask } from '../../api/request.ts';
import { Button } from '../../parts/button.tsx';
import { Empty, Loading } from '../../parts/empty.tsx';
import { NumberField } from '../../parts/number-field.tsx';
import { LongText } from '../../parts/reading.tsx';
import { ProblemNote, Text } from '../../parts/text.tsx';
import { useTitle } from '../../parts/use-title.ts';
import { Needs } from '../../session/session.tsx';
import { handText } from './handed-over.ts';
import { PolicyTabs } from './policy-tabs.tsx';
import { sinceDays } from './since-days.ts';

/** Rules that would have let through what people approved every time. A person puts them into a policy. */
export function ProposalsPage() {
  useTitle('Proposals');
  return (
    <div className="page">
      <h1>Proposals</h1>
      <PolicyTabs />
      <Needs scope="runs:read" to="to look at past decisions">
        <Propose />
      </Needs>
    </div>
  );
}

function Propose() {
  const [days, setDays] = useState('30');
  const [least, setLeast] = useState('3');
  const [found, setFound] = useState<RuleProposals | 'reading'>();
  const [error, setError] = useState<unknown>();
  const since = sinceDays(days);
  const isCount = /^[1-9]\d{0,3}$/.test(least);
  const propose = async (event: FormEvent) => {
    event.preventDefault();
    if (found === 'reading' || since === undefined || !isCount) return;
    setFound('reading');
    setError(undefined);
    try {
      const body = { since, least: Number(least) };
      setFound(await ask<RuleProposals>({ method: 'POST', path: '/v1/policies/propose', body }));
    } catch (refused) {
      setFound(undefined);
      setError(refused);
    }
  };
  const whyNot = found === 'reading' ? 'Being read' : since && isCount ? undefined : 'A number is missing';
  return (
    <>
      <form className="row" onSubmit={propose}>
        <NumberField label="Decisions of the last days" most={3650} value={days} onChange={setDays} />
        <NumberField label="approved at least" most={9999} value={least} onChange={setLeast} />
        <Button type="submit" kind="main" whyNot={whyNot}>
          Propose rules
        </Button>
      </form>
      {error !== undefined && <ProblemNote error={error} />}
      {found === 'reading' && <Loading of="past decisions" />}
      {typeof found === 'object' && <Proposals found={found} />}
    </>
  );
}

function Proposals({ found: { data, runs, calls } }: { found: RuleProposals }) {
  return (
    <section className="stack" aria-label="Proposed rules">
      <p role="status" className="numbers">
        {calls.toLocaleString('en')} held or refused calls of {runs.toLocaleString('en')} runs: {data.length}{' '}
        {data.length === 1 ? 'proposal' : 'proposals'}.
      </p>
      {data.length === 0 && (
        <Empty icon="shield" title="No rule to propose">
          <p>A proposal needs calls that people approved every time, and never refused.</p>
        </Empty>
      )}
      {data.map((proposal) => (
        <Proposal key={proposal.summary} of={proposal} />
      ))}
    </section>
  );
}

function Proposal({ of: { summary, rules, approved, calls } }: { of: RuleProposal }) {
  const [, go] = useLocation();
  const text = JSON.stringify({ rules }, null, 2);
  const use = (to: string) => {
    handText(text);
    go(to);
  };
  return (
    <article className="card pad stack">
      <h2>
        <Text>{summary}</Text>
      </h2>
      <p className="muted small">Approved {approved} times</p>
      <LongText label="The rules" counts={false}>
        <pre>
          <Text>{text}</Text>
        </pre>
      </LongText>
      <details>
        <summary>The calls that it would have let through</summary>
        <ul className="small">
          {calls.map(({ run_id, step_id, tool, args }) => (
            <li key={step_id}>
              <Link href={`/runs/${run_id}/steps/${step_id}`}>
                <Text most={80}>{tool}</Text>
              </Link>{' '}
              <code>
                <Text most={500}>{args}</Text>
              </code>
            </li>
          ))}
        </ul>
      </details>
      <div className="row">
        <Button onClick={() => use('/replay')}>Replay it on past calls</Button>
        <Button data-row="" onClick={() => use('/new-policy')}>
          Put it into a new policy
        </Button>
      </div>
    </article>
  );
}
