import type { FollowedPullRequest } from '@holdpoint/contract/wire';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { ask } from '../../../api/request.ts';
import { Badge, Note, type Tone } from '../../../parts/note.tsx';
import { RunStatus } from '../../../parts/status.tsx';
import { Text } from '../../../parts/text.tsx';
import { Ago, spanText } from '../../../parts/time.tsx';
import type { ShownRun } from '../shown-run.ts';
import { RunActions } from './action-dialog.tsx';

/** No event of the run reports what happens at the code host, so the page asks. */
const rereadMs = 15_000;

const tones: Record<FollowedPullRequest['status'], Tone> = { open: 'quiet', merged: 'good', closed: 'quiet' };

/** The pull request of the last publish, at its code host, and what came back from it. */
function PullRequest({ run }: ShownRun) {
  const { published } = run.publication;
  const { data: followed } = useQuery({
    queryKey: ['pull-request', run.id],
    queryFn: ({ signal }) =>
      ask<FollowedPullRequest>({ path: `/v1/runs/${encodeURIComponent(run.id)}/pull-request`, signal }),
    enabled: published?.type === 'git' && published.pull_request !== undefined,
    refetchInterval: rereadMs,
    retry: false,
  });
  if (published?.type !== 'git' || published.pull_request === undefined) return null;
  const { number, repository, url } = published.pull_request;
  const name = <Text most={120}>{`${repository} #${number}`}</Text>;
  const problem = followed?.problem ?? null;
  return (
    <Note title="Pull request" tone={problem !== null ? 'warn' : tones[followed?.status ?? 'open']}>
      {/* The address comes from the code host: any other scheme would be a script. */}
      {url.startsWith('https://') ? (
        <a href={url} target="_blank" rel="noreferrer">
          {name}
        </a>
      ) : (
        name
      )}
      {followed !== undefined && <State followed={followed} />}
    </Note>
  );
}

function State({ followed }: { followed: FollowedPullRequest }) {
  const { status, rounds, heard, answers, problem, looked_at } = followed;
  return (
    <>
      {` is ${status}. Its checks and comments woke the run ${rounds.used} of ${rounds.most} times`}
      {heard > 0 && `; ${heard} of them wait for the next publish`}
      {answers > 0 && `; ${answers} answers are being sent`}
      {'. '}
      {looked_at !== null && (
        <span className="muted">
          Seen <Ago at={looked_at} />
        </span>
      )}
      {problem !== null && (
        <p>
          <Text most={500}>{[problem.message, problem.next].filter(Boolean).join(' ')}</Text>
        </p>
      )}
    </>
  );
}

interface Measure {
  name: string;
  used: number;
  most?: number | undefined;
  text: (value: number) => string;
}

const count = (value: number): string => value.toLocaleString('en');
const money = (value: number): string => `$${value < 10 ? value.toFixed(value < 0.1 ? 4 : 2) : value.toFixed(0)}`;

/** What the run has used, against its limits. */
function Meters({ run }: ShownRun) {
  const { usage, request } = run;
  const { limits } = request;
  const all: Measure[] = [
    { name: 'Steps', used: usage.steps, most: limits.max_steps, text: count },
    { name: 'Time', used: usage.active_ms, most: times(limits.wall_s, 1000), text: spanText },
  ];
  if (run.planner === 'model') {
    all.push(
      { name: 'Turns', used: run.turn, most: limits.max_turns, text: count },
      { name: 'Tokens', used: usage.input_tokens + usage.output_tokens, most: limits.max_tokens, text: count },
      { name: 'Cost', used: usage.cost_usd, most: limits.max_cost_usd, text: money },
    );
    if (run.context?.tokens != null && run.context.window !== null) {
      all.push({ name: 'Context', used: run.context.tokens, most: run.context.window, text: count });
    }
  }
  return (
    <dl className="meters">
      {all.map((measure) => (
        <Meter key={measure.name} {...measure} />
      ))}
    </dl>
  );
}

const times = (value: number | undefined, by: number): number | undefined =>
  value === undefined ? undefined : value * by;

function Meter({ name, used, most, text }: Measure) {
  const part = most === undefined ? undefined : Math.min(1, used / most);
  return (
    <div className="meter-box">
      <dt className="muted small">{name}</dt>
      <dd className="numbers">
        {text(used)}
        {most !== undefined && <span className="muted small"> of {text(most)}</span>}
        {part !== undefined && <meter aria-label={`${name}, of its limit`} min={0} max={1} high={0.85} value={part} />}
      </dd>
    </div>
  );
}

/** What the run is, why it stands where it stands, and what a person can do. */
export function RunHead({ run }: ShownRun) {
  return (
    <header className="run-head">
      <div className="run-title">
        <h1>
          <Text most={200}>{run.title}</Text>
        </h1>
        <RunStatus status={run.status} />
        {run.dry_run && <Badge>dry run</Badge>}
        {run.publication.status !== 'none' && <Publication run={run} />}
      </div>
      <Facts run={run} />
      <Reasons run={run} />
      <PullRequest run={run} />
      <Meters run={run} />
      <RunActions run={run} />
    </header>
  );
}

function Facts({ run }: ShownRun) {
  const took = run.started_at && run.ended_at ? Date.parse(run.ended_at) - Date.parse(run.started_at) : undefined;
  return (
    <p className="run-facts muted small">
      <span>
        created <Ago at={run.created_at} />
        {run.created_by !== null && (
          <>
            {' by '}
            <Text most={60}>{run.created_by}</Text>
          </>
        )}
      </span>
      <span>
        {run.model !== null ? <Text most={60}>{run.model}</Text> : run.planner === 'open' ? 'open run' : 'plan'}
      </span>
      {run.request.outside_agent !== null && (
        <span>
          by the agent <Text most={60}>{run.request.outside_agent}</Text>
        </span>
      )}
      {took !== undefined && <span className="numbers">took {spanText(took)}</span>}
      {run.parent !== null && <Link href={`/runs/${run.parent.run_id}`}>sub-agent of another run</Link>}
      {run.forked_from !== null && <Link href={`/runs/${run.forked_from.run_id}`}>forked from another run</Link>}
      {Object.entries(run.labels).map(([name, value]) => (
        <span key={name} className="label-chip">
          <Text most={60}>{`${name}: ${value}`}</Text>
        </span>
      ))}
    </p>
  );
}

const publications: Record<ShownRun['run']['publication']['status'], [string, 'good' | 'warn' | 'bad' | 'quiet']> = {
  none: ['not published', 'quiet'],
  requested: ['being published', 'quiet'],
  parked: ['publish held', 'warn'],
  published: ['published', 'good'],
  conflicted: ['publish conflicts', 'bad'],
  failed: ['publish failed', 'bad'],
  rejected: ['publish rejected', 'quiet'],
  discarding: ['being discarded', 'quiet'],
  discarded: ['discarded', 'quiet'],
};

function Publication({ run }: ShownRun) {
  const [text, tone] = publications[run.publication.status];
  return <Badge tone={tone}>{text}</Badge>;
}

/** Why the run waits, in the order in which a person should act. */
function Reasons({ run }: ShownRun) {
  const { pending_approvals: pending, reason, blocker, model_wait, waits_for, publication } = run;
  return (
    <>
      {pending > 0 && (
        <Note tone="warn" title={pending === 1 ? 'A decision is needed' : `${pending} decisions are needed`}>
          <Link
            href={
              publication.approval_id === null ? `/approvals?run_id=${run.id}` : `/approvals/${publication.approval_id}`
            }
          >
            See what is asked
          </Link>
        </Note>
      )}
      {reason !== null && (
        <Note tone={run.status === 'failed' ? 'bad' : 'warn'} title={<Text>{reason.message}</Text>}>
          {reason.next !== undefined && <Text>{reason.next}</Text>}
        </Note>
      )}
      {publication.reason !== null && (
        <Note tone="bad" title={<Text>{publication.reason.message}</Text>}>
          {publication.reason.next !== undefined && <Text>{publication.reason.next}</Text>}
        </Note>
      )}
      {blocker !== null && (
        <Note tone="warn" title="A sub-agent is paused">
          <Text>{blocker.reason.message}</Text> <Link href={`/runs/${blocker.run_id}`}>Open it</Link>
        </Note>
      )}
      {model_wait !== null && (
        <Note tone="warn" title="The model cannot be reached">
          The run asks it again by itself.
        </Note>
      )}
      {waits_for !== undefined && (
        <Note title="In line for a place">
          {waits_for.ahead} before it; {waits_for.in_progress} of {waits_for.of} places are taken.
        </Note>
      )}
    </>
  );
}
