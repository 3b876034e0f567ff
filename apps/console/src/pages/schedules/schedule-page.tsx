import type { Occurrence } from '@holdpoint/contract';
import type { Schedule } from '@holdpoint/contract/wire';
import { useState } from 'react';
import { Link } from 'wouter';
import { isProblem } from '../../api/request.ts';
import { Button } from '../../parts/button.tsx';
import { Loading } from '../../parts/empty.tsx';
import { Badge, Note, type Tone } from '../../parts/note.tsx';
import { ProblemNote, Text } from '../../parts/text.tsx';
import { Ago, wholeTime } from '../../parts/time.tsx';
import { useTitle } from '../../parts/use-title.ts';
import { Needs, useWhyNot } from '../../session/session.tsx';
import { Missing } from '../missing/missing-page.tsx';
import { useOccurrences, useSchedule, useSteer } from './use-schedules.ts';

const tones: Record<Schedule['status'], Tone> = { active: 'good', paused: 'warn', ended: 'quiet' };

export const ScheduleState = ({ of: { status, failures } }: { of: Schedule }) => (
  <>
    <Badge tone={tones[status]}>{status}</Badge>
    {failures > 0 && <Badge tone="bad">{failures} failed in a row</Badge>}
  </>
);

export const When = ({ of: { cron, every_s, zone } }: { of: Schedule }) =>
  cron === undefined ? (
    <span>every {every_s} s</span>
  ) : (
    <span>
      <code>
        <Text most={100}>{cron}</Text>
      </code>{' '}
      <Text most={64}>{zone}</Text>
    </span>
  );

/** A schedule: its times, and what became of its occurrences. */
export function SchedulePage({ name }: { name: string }) {
  useTitle(`Schedule ${name}`);
  return (
    <div className="page">
      <h1>
        <Link href="/schedules">Schedules</Link> / <Text most={64}>{name}</Text>
      </h1>
      <Needs scope="schedules:read" to="to see the schedules">
        <Found name={name} />
      </Needs>
    </div>
  );
}

function Found({ name }: { name: string }) {
  const { data, error, isPending } = useSchedule(name);
  if (isProblem(error) && error.status === 404) return <Missing what="schedule" id={name} />;
  if (error && data === undefined) return <ProblemNote error={error} />;
  if (isPending) return <Loading of="the schedule" />;
  return (
    <div className="stack">
      <Head schedule={data} />
      <Facts schedule={data} />
      <History name={name} />
    </div>
  );
}

function Head({ schedule }: { schedule: Schedule }) {
  const { name, paused } = schedule;
  const steer = useSteer(name);
  const whyNot = useWhyNot('schedules:write');
  const [failed, setFailed] = useState<unknown>();
  const act = (what: 'pause' | 'resume' | 'trigger') => () => {
    setFailed(undefined);
    steer(what).catch(setFailed);
  };
  return (
    <>
      <div className="row">
        <ScheduleState of={schedule} />
        <Button kind="main" whyNot={whyNot} onClick={act('trigger')}>
          Run now
        </Button>
        {paused === null ? (
          <Button whyNot={whyNot} onClick={act('pause')}>
            Pause
          </Button>
        ) : (
          <Button whyNot={whyNot} onClick={act('resume')}>
            Resume
          </Button>
        )}
      </div>
      {failed !== undefined && <ProblemNote error={failed} />}
      {paused !== null && (
        <Note tone="warn" title="It is paused">
          <Text most={100}>{paused.by}</Text> paused it <Ago at={paused.at} />
          {paused.reason !== undefined && (
            <>
              : <Text most={500}>{paused.reason}</Text>
            </>
          )}
          . Who resumes it gives it the rights of their own key.
        </Note>
      )}
    </>
  );
}

function Facts({ schedule }: { schedule: Schedule }) {
  const { upcoming, overlap, running, waiting, runs_as } = schedule;
  return (
    <dl className="facts">
      <dt>When</dt>
      <dd>
        <When of={schedule} />
      </dd>
      <dt>Next</dt>
      <dd>{upcoming.length === 0 ? 'none' : upcoming.map(wholeTime).join(', ')}</dd>
      <dt>Overlap</dt>
      <dd>{overlap}</dd>
      <dt>Running</dt>
      <dd>
        {running.length === 0
          ? 'none'
          : running.map(({ run_id }) => (
              <Link key={run_id} href={`/runs/${run_id}`}>
                {run_id}
              </Link>
            ))}
      </dd>
      <dt>Waiting</dt>
      <dd>{waiting}</dd>
      <dt>Runs as</dt>
      <dd>
        <Text most={100}>{runs_as}</Text>
      </dd>
    </dl>
  );
}

function History({ name }: { name: string }) {
  const { data, error } = useOccurrences(name);
  if (error && data === undefined) return <ProblemNote error={error} />;
  const occurrences = data?.data ?? [];
  return (
    <section aria-label="Occurrences">
      <h2>Occurrences</h2>
      {occurrences.length === 0 && <p className="muted">None yet.</p>}
      {occurrences.length > 0 && (
        <ul className="card rows">
          {occurrences.map((one, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: records have no id, and are only added at the front
            <Line key={`${one.recorded_at} ${index}`} occurrence={one} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Line({ occurrence }: { occurrence: Occurrence }) {
  const { scheduled_for, kind, outcome, run_id, reason, count, until } = occurrence;
  return (
    <li className="line plain">
      <div className="line-body">
        <div className="row">
          <time dateTime={scheduled_for}>{wholeTime(scheduled_for)}</time>
          <Badge tone={outcome === 'submitted' ? 'good' : outcome === 'refused' ? 'bad' : 'quiet'}>{outcome}</Badge>
          {kind !== 'scheduled' && <Badge>{kind}</Badge>}
          {run_id !== undefined && <Link href={`/runs/${run_id}`}>{run_id}</Link>}
        </div>
        {(count !== undefined || reason !== undefined) && (
          <div className="line-meta">
            {count !== undefined && (
              <span>
                {count} until {until && wholeTime(until)}
              </span>
            )}
            {reason !== undefined && (
              <span>
                <Text most={500}>{reason}</Text>
              </span>
            )}
          </div>
        )}
      </div>
    </li>
  );
}
