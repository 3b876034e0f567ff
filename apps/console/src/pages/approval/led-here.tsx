import type { Approval, ApprovalContext, Page, StepSummary } from '@holdpoint/contract/wire';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { useApprovalContext } from '../../api/approvals.ts';
import { ask } from '../../api/request.ts';
import { StepStatus } from '../../parts/status.tsx';
import { Text } from '../../parts/text.tsx';
import { NotShown, useWhyNot } from '../../session/session.tsx';

/** What led to the call: the model's words of its turn, what the run read since the last decision, and the steps before. */
export function LedHere({ approval }: { approval: Approval }) {
  const { id: approvalId, run_id, step_id } = approval;
  const { data: context } = useApprovalContext(approvalId);
  const noRuns = useWhyNot('runs:read');
  const steps = useQuery({
    queryKey: ['run', run_id, 'steps', 'before', step_id],
    queryFn: ({ signal }) =>
      ask<Page<StepSummary>>({
        path: `/v1/runs/${encodeURIComponent(run_id)}/steps`,
        query: { view: 'summary', order: 'desc', from: step_id ?? undefined, limit: 9 },
        signal,
      }),
    enabled: step_id !== null && noRuns === undefined,
  });
  const before = steps.data?.data.filter(({ id }) => id !== step_id) ?? [];
  const message = context?.message ?? '';
  const hasRead = context !== undefined && context.read.calls > 0;
  const isLeftOut = noRuns !== undefined && step_id !== null;
  if (message === '' && before.length === 0 && !hasRead && !isLeftOut) return null;
  return (
    <section className="stack" aria-labelledby="led-here">
      <h2 id="led-here">What led to it</h2>
      {message !== '' && (
        <blockquote className="words">
          <Text>{message}</Text>
        </blockquote>
      )}
      {hasRead && <ReadSince context={context} />}
      {before.length > 0 && (
        <ol className="before">
          {before.toReversed().map(({ id, tool, title, status, number }) => (
            <li key={id} className="spread">
              <Link href={`/steps/${id}`} className="one-line">
                <span className="muted numbers">{number ?? '–'}</span> <strong>{tool}</strong>{' '}
                <Text most={120}>{title}</Text>
              </Link>
              <StepStatus status={status} />
            </li>
          ))}
        </ol>
      )}
      {isLeftOut && <NotShown whyNot={noRuns}>the steps before</NotShown>}
    </section>
  );
}

/** Files, hosts and commands: what a hostile text could have come from. */
function ReadSince({ context: { since, read } }: { context: ApprovalContext }) {
  const lists = [
    ['Files', read.files],
    ['Hosts', read.hosts],
    ['Commands', read.commands],
  ] as const;
  return (
    <dl className="facts">
      <dt>{since === null ? 'Read since the run began' : 'Read since the last decision'}</dt>
      <dd>
        {read.calls === 1 ? '1 call' : `${read.calls} calls`}
        {read.cut && ' or more'}
        {since !== null && (
          <>
            {' '}
            <span className="muted">
              after <Text>{since.by}</Text> decided
            </span>
          </>
        )}
      </dd>
      {lists.map(([name, items]) => items.length > 0 && <Names key={name} name={name} items={items} />)}
    </dl>
  );
}

const mostNames = 12;

const Names = ({ name, items }: { name: string; items: readonly string[] }) => (
  <>
    <dt>{name}</dt>
    <dd>
      <ul className="names">
        {items.slice(0, mostNames).map((item) => (
          <li key={item}>
            <code>
              <Text most={160}>{item}</Text>
            </code>
          </li>
        ))}
        {items.length > mostNames && <li className="muted">and {items.length - mostNames} more</li>}
      </ul>
    </dd>
  </>
);
