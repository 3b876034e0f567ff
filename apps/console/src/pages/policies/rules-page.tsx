import type { RememberedRule } from '@holdpoint/contract/wire';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { ask } from '../../api/request.ts';
import { AskDialog } from '../../parts/ask-dialog.tsx';
import { Button } from '../../parts/button.tsx';
import { Empty, Loading } from '../../parts/empty.tsx';
import { Badge } from '../../parts/note.tsx';
import { ProblemNote, Text } from '../../parts/text.tsx';
import { Ago, Until } from '../../parts/time.tsx';
import { useTitle } from '../../parts/use-title.ts';
import { Needs, useWhyNot } from '../../session/session.tsx';
import { PolicyTabs } from './policy-tabs.tsx';
import { useRules } from './use-policies.ts';

/** The remembered rules: decisions of people for later calls, too. */
export function RulesPage() {
  useTitle('Remembered rules');
  return (
    <div className="page">
      <h1>Remembered rules</h1>
      <PolicyTabs />
      <Needs scope="approvals:read" to="to read what was remembered">
        <RuleList />
      </Needs>
    </div>
  );
}

function RuleList() {
  const list = useRules();
  const [revoked, setRevoked] = useState<RememberedRule>();
  const rules = list.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <>
      {list.error && <ProblemNote error={list.error} />}
      {list.isPending && <Loading of="the rules" />}
      {list.isSuccess && rules.length === 0 && (
        <Empty icon="check" title="No decision is remembered">
          <p>Approve or reject a call with “remember”, and later calls like it are decided in the same way.</p>
        </Empty>
      )}
      {rules.length > 0 && (
        <ul className="card rows" aria-label="Remembered rules">
          {rules.map((rule) => (
            <RuleLine key={rule.id} rule={rule} onRevoke={() => setRevoked(rule)} />
          ))}
        </ul>
      )}
      {list.hasNextPage && <Button onClick={() => void list.fetchNextPage()}>More rules</Button>}
      {revoked !== undefined && <Revoke rule={revoked} onClose={() => setRevoked(undefined)} />}
    </>
  );
}

function RuleLine({ rule, onRevoke }: { rule: RememberedRule; onRevoke: () => void }) {
  const { decision, tool, args, leaves_out, message, scope, run_id, approval_id, created_by, created_at, expires_at } =
    rule;
  const decide = useWhyNot('approvals:decide');
  const change = useWhyNot('policies:write');
  return (
    <li className="row-line">
      <div className="stack tight">
        <span className="row">
          <strong>
            <Text most={80}>{tool}</Text>
          </strong>
          <Badge tone={decision === 'reject' ? 'bad' : 'good'}>{decision === 'reject' ? 'rejected' : 'approved'}</Badge>
          <Badge tone={scope === 'policy' ? 'warn' : 'quiet'}>{scope === 'policy' ? 'all runs' : 'one run'}</Badge>
        </span>
        <code className="small">
          <Text most={2000}>{JSON.stringify(args)}</Text>
        </code>
        {leaves_out.length > 0 && (
          <span className="muted small">
            <Text>{leaves_out.join(', ')}</Text> may differ
          </span>
        )}
        {message !== null && (
          <blockquote className="words">
            <Text most={2000}>{message}</Text>
          </blockquote>
        )}
        <span className="muted small">
          <Text>{created_by}</Text> <Ago at={created_at} /> · expires <Until at={expires_at} /> ·{' '}
          <Link href={`/approvals/${approval_id}`}>the decision</Link> · <Link href={`/runs/${run_id}`}>the run</Link>
        </span>
      </div>
      <Button
        slim
        kind="danger"
        data-row=""
        whyNot={decide ?? (scope === 'policy' ? change : undefined)}
        onClick={onRevoke}
      >
        Revoke
      </Button>
    </li>
  );
}

function Revoke({ rule: { id, tool }, onClose }: { rule: RememberedRule; onClose: () => void }) {
  const queries = useQueryClient();
  const revoke = () =>
    ask({ method: 'DELETE', path: `/v1/rules/${id}` }).finally(() =>
      queries.invalidateQueries({ queryKey: ['rules'] }),
    );
  return (
    <AskDialog title="Revoke the rule" word="Revoke it" danger onSend={revoke} onClose={onClose}>
      <p>
        The next call of <Text most={80}>{tool}</Text> like it waits for a decision again.
      </p>
    </AskDialog>
  );
}
