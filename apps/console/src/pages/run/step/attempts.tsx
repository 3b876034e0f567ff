import type { Attempt } from '@holdpoint/contract/wire';
import { Badge, type Tone } from '../../../parts/note.tsx';
import { Text } from '../../../parts/text.tsx';
import { spanText, wholeTime } from '../../../parts/time.tsx';

/** Each try at the step: where, how it ended, and what the sandbox enforced. */
export const Attempts = ({ attempts }: { attempts: readonly Attempt[] }) => (
  <section className="stack">
    <h3>{attempts.length === 1 ? 'Attempt' : `${attempts.length} attempts`}</h3>
    <ol className="stack">
      {attempts.map((attempt) => (
        <AttemptCard key={attempt.number} attempt={attempt} />
      ))}
    </ol>
  </section>
);

const tones: Partial<Record<NonNullable<Attempt['end']>, Tone>> = { succeeded: 'good', held: 'warn', retried: 'warn' };

function AttemptCard({ attempt }: { attempt: Attempt }) {
  const { number, worker, started_at, end, reason, duration_ms, capabilities } = attempt;
  return (
    <li className="card task-card">
      <div className="spread">
        <h4 className="numbers">Attempt {number}</h4>
        <Badge tone={end === null ? 'info' : (tones[end] ?? 'bad')}>{end ?? 'running'}</Badge>
      </div>
      <p className="row small muted">
        <span>
          on <Text most={60}>{worker}</Text>
        </span>
        <time dateTime={started_at}>{wholeTime(started_at)}</time>
        {duration_ms !== null && <span className="numbers">{spanText(duration_ms)}</span>}
      </p>
      {reason !== null && (
        <p className="small">
          <Text>{reason.message}</Text>
        </p>
      )}
      {capabilities !== null && <Enforced report={capabilities} />}
    </li>
  );
}

const parts = {
  fs: 'files',
  net: 'network',
  pids: 'processes',
  memory: 'memory',
  cpu: 'CPU',
  disk: 'disk',
  seccomp: 'system calls',
  uid_drop: 'user',
} as const;
const looks = { enforced: ['good', 'check'], partial: ['warn', 'alert'], absent: ['bad', 'cross'] } as const;

function Enforced({ report }: { report: NonNullable<Attempt['capabilities']> }) {
  return (
    <details className="small">
      <summary>
        Sandbox: {report.driver === 'none' ? 'none' : report.driver}
        {report.notes.length > 0 && ` · ${report.notes.length} ${report.notes.length === 1 ? 'gap' : 'gaps'}`}
      </summary>
      <ul className="row enforced">
        {Object.entries(parts).map(([part, name]) => {
          const state = report[part as keyof typeof parts];
          const [tone, icon] = looks[state];
          return (
            <li key={part}>
              <Badge tone={tone} icon={icon}>
                {name} {state}
              </Badge>
            </li>
          );
        })}
      </ul>
      {report.notes.map((note) => (
        <p key={note} className="muted">
          <Text>{note}</Text>
        </p>
      ))}
    </details>
  );
}
