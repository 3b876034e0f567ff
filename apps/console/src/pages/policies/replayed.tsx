import type { ReplayedCall } from '@holdpoint/contract/wire';
import { Link } from 'wouter';
import { Note } from '../../parts/note.tsx';
import { Text } from '../../parts/text.tsx';
import { Ago } from '../../parts/time.tsx';
import type { Found } from './use-replay.ts';
import { Verdict } from './verdict.tsx';

const counted = (count: number): string => count.toLocaleString('en');

export function Replayed({ found, isReading }: { found: Found; isReading: boolean }) {
  const { runs, calls, unchanged, counts, changed, not_judged, left_out, damaged } = found;
  return (
    <section className="stack" aria-label="What would be different">
      <p role="status" className="numbers">
        {counted(calls)} calls of {counted(runs)} runs{isReading ? ', reading more' : ''}: {counted(unchanged)} as they
        were, {counted(counts.allow)} newly allowed, {counted(counts.hold)} newly held, {counted(counts.deny)} newly
        denied.
      </p>
      {damaged > 0 && <Note tone="bad" title={`${counted(damaged)} runs cannot be read`} />}
      {changed.length > 0 && (
        <ul className="card rows" aria-label="Calls with another verdict">
          {changed.map((call) => (
            <Changed key={call.step_id} call={call} />
          ))}
        </ul>
      )}
      {left_out > 0 && <p className="muted">{counted(left_out)} more calls are counted and not listed.</p>}
      {not_judged.length > 0 && (
        <details>
          <summary>{counted(not_judged.length)} calls were not judged</summary>
          <ul className="small">
            {not_judged.map(({ step_id, tool, reason }) => (
              <li key={step_id}>
                <Text most={80}>{tool}</Text>: <Text most={300}>{reason}</Text>
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

const Changed = ({ call: { run_id, step_id, tool, args, at, was, verdict, decided } }: { call: ReplayedCall }) => (
  <li className="row-line">
    <div className="stack tight">
      <span>
        <Link href={`/runs/${run_id}/steps/${step_id}`} data-row="">
          <Text most={80}>{tool}</Text>
        </Link>{' '}
        <code className="small">
          <Text most={500}>{args}</Text>
        </code>
      </span>
      <span className="muted small">
        <Ago at={at} /> · <Text most={300}>{verdict.reason}</Text>
        {decided !== null && (
          <>
            {' '}
            · then {decided.kind}
            {decided.by !== undefined && (
              <>
                {' '}
                by <Text>{decided.by}</Text>
              </>
            )}
          </>
        )}
      </span>
    </div>
    <span className="row">
      <Verdict action={was} /> → <Verdict action={verdict.action} />
    </span>
  </li>
);
