import type { Page, RunEvent, StepDetail } from '@holdpoint/contract/wire';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ask } from '../../../api/request.ts';
import { Button } from '../../../parts/button.tsx';
import { Badge, type Tone } from '../../../parts/note.tsx';
import { ProblemNote, Text } from '../../../parts/text.tsx';
import { runPath, type ShownRun } from '../shown-run.ts';

type Connected = Extract<RunEvent, { type: 'network.connected' }>;
type Counted = Extract<RunEvent, { type: 'network.counted' }>;

/** The connections of the step, from the log. The log is read when a person asks: it has no index by step. */
export function Network({ run, step }: ShownRun & { step: StepDetail }) {
  const [isAsked, setAsked] = useState(false);
  const { data, error, isFetching } = useQuery({
    queryKey: ['network', run.id, step.id, step.status],
    enabled: isAsked,
    staleTime: Infinity,
    queryFn: ({ signal }) => readConnections(run.id, step.id, signal),
  });
  if (step.attempts === 0) return null;
  return (
    <section className="stack">
      <h3>Network</h3>
      {error && <ProblemNote error={error} />}
      {data === undefined && (
        <div className="row">
          <Button slim icon="globe" whyNot={isFetching ? 'Being read' : undefined} onClick={() => setAsked(true)}>
            Show its connections
          </Button>
        </div>
      )}
      {data?.length === 0 && <p className="muted small">It connected to nothing.</p>}
      {data !== undefined && data.length > 0 && <Connections all={data} />}
    </section>
  );
}

const tones: Record<string, Tone> = { allowed: 'good', refused: 'bad', failed: 'warn' };

const Connections = ({ all }: { all: readonly (Connected | Counted)[] }) => (
  <ul className="connections small">
    {all.map((event) =>
      event.type === 'network.connected' ? (
        <li key={event.seq} className="spread">
          <span className="mono">
            <Text>{`${event.data.host}:${event.data.port}`}</Text>
            {event.data.detail !== undefined && (
              <span className="muted">
                {' '}
                <Text>{event.data.detail}</Text>
              </span>
            )}
          </span>
          <span className="muted numbers">
            ↑ {event.data.bytes_up.toLocaleString('en')} ↓ {event.data.bytes_down.toLocaleString('en')}
          </span>
          <Badge tone={tones[event.data.verdict] ?? 'quiet'}>{event.data.verdict}</Badge>
        </li>
      ) : (
        event.data.counts.map((count) => (
          <li key={`${event.seq} ${count.host} ${count.port} ${count.verdict}`} className="spread">
            <span>
              {count.connections.toLocaleString('en')} more to{' '}
              <Text>{count.host === null ? 'other hosts' : `${count.host}:${count.port}`}</Text>
            </span>
            <Badge tone={tones[count.verdict] ?? 'quiet'}>{count.verdict}</Badge>
          </li>
        ))
      ),
    )}
  </ul>
);

async function readConnections(runId: string, stepId: string, signal: AbortSignal): Promise<(Connected | Counted)[]> {
  const found: (Connected | Counted)[] = [];
  for (let after = 0; ; ) {
    const page = await ask<Page<RunEvent>>({ path: runPath(runId, '/events'), query: { after, limit: 1000 }, signal });
    for (const event of page.data) {
      if (event.type !== 'network.connected' && event.type !== 'network.counted') continue;
      if (event.step_id === stepId) found.push(event);
    }
    after = page.data.at(-1)?.seq ?? after;
    if (!page.has_more) return found;
  }
}
