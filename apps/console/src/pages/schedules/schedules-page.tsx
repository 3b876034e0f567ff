import type { Schedule } from '@holdpoint/contract/wire';
import { Link } from 'wouter';
import { Empty, Loading } from '../../parts/empty.tsx';
import { ProblemNote, Text } from '../../parts/text.tsx';
import { Ago, Until } from '../../parts/time.tsx';
import { useTitle } from '../../parts/use-title.ts';
import { Needs } from '../../session/session.tsx';
import { ScheduleState, When } from './schedule-page.tsx';
import { useScheduleList } from './use-schedules.ts';

/** The runs by the clock. */
export function SchedulesPage() {
  useTitle('Schedules');
  return (
    <div className="page">
      <h1>Schedules</h1>
      <p className="muted">Runs by the clock. A schedule is stored with `holdpoint schedules put`, or with the API.</p>
      <Needs scope="schedules:read" to="to see the schedules">
        <List />
      </Needs>
    </div>
  );
}

function List() {
  const { data, error, isPending } = useScheduleList();
  if (error && data === undefined) return <ProblemNote error={error} />;
  if (isPending) return <Loading of="the schedules" />;
  if (data.data.length === 0)
    return (
      <Empty icon="runs" title="No schedule yet">
        <p>A schedule submits a run every night, every ten minutes, or on the first Monday of a month.</p>
      </Empty>
    );
  return (
    <ul className="card rows" aria-label="Schedules">
      {data.data.map((schedule) => (
        <Line key={schedule.name} schedule={schedule} />
      ))}
    </ul>
  );
}

function Line({ schedule }: { schedule: Schedule }) {
  const { name, next, paused, running, last, note } = schedule;
  return (
    <li className="line plain">
      <div className="line-body">
        <div className="row">
          <Link href={`/schedules/${encodeURIComponent(name)}`} className="line-link" data-row="">
            <Text most={64}>{name}</Text>
          </Link>
          <ScheduleState of={schedule} />
        </div>
        <div className="line-meta">
          <When of={schedule} />
          {paused === null && next !== null && (
            <span>
              next <Until at={next} />
            </span>
          )}
          {running.length > 0 && <span>{running.length} running</span>}
          {last !== null && (
            <span>
              last {last.outcome} <Ago at={last.recorded_at} />
            </span>
          )}
        </div>
        {note !== undefined && (
          <p className="small muted">
            <Text most={300}>{note}</Text>
          </p>
        )}
      </div>
    </li>
  );
}
