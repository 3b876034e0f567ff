import type { AuditRecord } from '@holdpoint/contract/wire';
import { Link } from 'wouter';
import { Badge, type Tone } from '../../parts/badge.tsx';
import { LongText } from '../../parts/reading.tsx';
import { Text } from '../../parts/text.tsx';
import { wholeTime } from '../../parts/time.tsx';

/** A record in a line; unfolded, all of it as it was sealed. */
export function RecordLine({ record }: { record: AuditRecord }) {
  const { seq, kind, time } = record;
  const { what, who, state } = wordsOf(record);
  return (
    <li>
      <details className="record">
        <summary data-row="">
          <span className="numbers muted record-seq">{seq}</span>
          <Badge>{kind}</Badge>
          <span className="record-what">
            <Text most={300}>{what}</Text>
          </span>
          {state !== undefined && <Badge tone={toneOf(state)}>{state}</Badge>}
          <span className="muted small">
            {who !== undefined && (
              <>
                <Text most={80}>{who}</Text>,{' '}
              </>
            )}
            <time dateTime={time}>{wholeTime(time)}</time>
          </span>
        </summary>
        <div className="stack">
          {'run_id' in record && (
            <p className="small">
              Of the run <Link href={`/runs/${record.run_id}`}>{record.run_id}</Link>
            </p>
          )}
          <LongText label={`Record ${seq}`} counts={false}>
            <pre>
              <Text most={100_000}>{JSON.stringify(record, null, 2)}</Text>
            </pre>
          </LongText>
        </div>
      </details>
    </li>
  );
}

interface Words {
  what: string;
  who?: string | undefined;
  state?: string | undefined;
}

function wordsOf(record: AuditRecord): Words {
  switch (record.kind) {
    case 'call':
      return {
        what: `${record.tool} ${record.args.text}`,
        who: record.submitted_by.name,
        state: record.outcome.status,
      };
    case 'approval':
      return { what: record.tool ?? 'publish', who: record.decided_by?.name, state: record.status };
    case 'publish':
      return { what: 'publish', who: record.requested_by?.name, state: record.status };
    case 'task':
      return { what: record.about ?? 'task', who: record.submitted_by.name, state: record.status };
    case 'run':
      return { what: record.event, who: record.by?.name ?? record.submitted_by.name, state: record.status };
    case 'change':
      return { what: `${record.subject} ${record.action}`, who: record.by.name };
    case 'log':
      return { what: record.unreadable ? 'events of another shape' : 'other events' };
    case 'loss':
      return { what: `Redis went back: events from ${record.from} to ${record.to} are gone`, state: 'lost' };
    default:
      return record satisfies never;
  }
}

const good = new Set(['succeeded', 'approved', 'edited', 'published']);
const bad = new Set(['failed', 'rejected', 'conflicted', 'killed', 'timed_out', 'lost', 'indeterminate']);
const toneOf = (state: string): Tone => (good.has(state) ? 'good' : bad.has(state) ? 'bad' : 'quiet');
