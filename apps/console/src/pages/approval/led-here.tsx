import type { Approval, Page, StepSummary, Turn } from '@holdpoint/contract/wire';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { ask } from '../../api/request.ts';
import { StepStatus } from '../../parts/status.tsx';
import { Text } from '../../parts/text.tsx';

/** What led to the call: the model's words of its turn, and the steps before. */
export function LedHere({ approval }: { approval: Approval }) {
  const { run_id, step_id } = approval;
  const path = `/v1/runs/${encodeURIComponent(run_id)}`;
  const turns = useQuery({
    queryKey: ['run', run_id, 'turns', 'newest'],
    queryFn: ({ signal }) => ask<Page<Turn>>({ path: `${path}/turns`, query: { order: 'desc', limit: 20 }, signal }),
    enabled: step_id !== null,
  });
  const steps = useQuery({
    queryKey: ['run', run_id, 'steps', 'before', step_id],
    queryFn: ({ signal }) =>
      ask<Page<StepSummary>>({
        path: `${path}/steps`,
        query: { view: 'summary', order: 'desc', from: step_id ?? undefined, limit: 9 },
        signal,
      }),
    enabled: step_id !== null,
  });
  const turn = turns.data?.data.find(({ steps: ids }) => step_id !== null && ids.includes(step_id));
  const before = steps.data?.data.filter(({ id }) => id !== step_id) ?? [];
  if ((turn === undefined || turn.message === '') && before.length === 0) return null;
  return (
    <section className="stack" aria-labelledby="led-here">
      <h2 id="led-here">What led to it</h2>
      {turn !== undefined && turn.message !== '' && (
        <blockquote className="words">
          <Text>{turn.message}</Text>
        </blockquote>
      )}
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
    </section>
  );
}
