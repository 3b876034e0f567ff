import type { AuditKind, AuditRecord, Page } from '@holdpoint/contract/wire';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { ask } from '../../api/request.ts';
import { Button } from '../../parts/button.tsx';
import { Empty, Loading } from '../../parts/empty.tsx';
import { FilterField } from '../../parts/filter-field.tsx';
import { Badge, type Tone } from '../../parts/note.tsx';
import { LongText } from '../../parts/reading.tsx';
import { ProblemNote, Text } from '../../parts/text.tsx';
import { wholeTime } from '../../parts/time.tsx';
import { useFilters } from '../../parts/use-filters.ts';
import { useTitle } from '../../parts/use-title.ts';
import { Needs } from '../../session/session.tsx';
import { Seal } from './seal.tsx';

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

const kinds = ['call', 'approval', 'publish', 'task', 'run', 'change', 'log', 'loss'] as const satisfies AuditKind[];

/** The sealed records of calls, decisions and changes. The filters stand in the address. */
export function AuditPage() {
  useTitle('Audit');
  return (
    <div className="page">
      <h1>Audit</h1>
      <Seal />
      <Needs scope="audit:read" to="to read the records">
        <Records />
      </Needs>
    </div>
  );
}

function Records() {
  const [filters, change] = useFilters();
  const chosen = filters.get('kind')?.split(',') ?? [];
  const kind = kinds.filter((each) => chosen.includes(each));
  const filter = { kind, run_id: filters.get('run') ?? undefined, since: dayOf(filters.get('since')) };
  const list = useRecords(filter);
  const records = list.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <section className="stack" aria-label="Records">
      <div className="filters">
        <FilterField
          label="Run id"
          icon="search"
          value={filters.get('run') ?? ''}
          onChange={(run) => change({ run })}
        />
        <FilterField
          label="Since (a date)"
          value={filters.get('since') ?? ''}
          onChange={(since) => change({ since: since.trim() })}
        />
        <Export filter={filter} />
      </div>
      <fieldset className="choices">
        <legend className="hidden-text">Kinds</legend>
        {kinds.map((each) => (
          <button
            key={each}
            type="button"
            className="choice"
            aria-pressed={kind.includes(each)}
            onClick={() => change({ kind: toggled(kind, each).join(',') })}
          >
            {each}
          </button>
        ))}
      </fieldset>
      {list.error && <ProblemNote error={list.error} />}
      {list.isPending && <Loading of="the records" />}
      {list.isSuccess && records.length === 0 && (
        <Empty icon="shield" title="No such record">
          <p>A record appears within a second of what it is about.</p>
        </Empty>
      )}
      {records.length > 0 && (
        <ol className="card rows" aria-label="Records, the last first">
          {records.map((record) => (
            <RecordLine key={record.seq} record={record} />
          ))}
        </ol>
      )}
      {list.hasNextPage && (
        <Button whyNot={list.isFetching ? 'Being read' : undefined} onClick={() => void list.fetchNextPage()}>
          Earlier records
        </Button>
      )}
    </section>
  );
}

interface Filter {
  kind: readonly AuditKind[];
  run_id: string | undefined;
  since: string | undefined;
}

const useRecords = (filter: Filter) =>
  useInfiniteQuery({
    queryKey: ['audit', filter],
    queryFn: ({ pageParam, signal }) => {
      const query = { ...filter, order: 'desc', limit: 100, cursor: pageParam };
      return ask<Page<AuditRecord>>({ path: '/v1/audit', query, signal });
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    staleTime: 0,
  });

/** The browser writes the stream to a file as it comes: no size is too large. */
function Export({ filter: { kind, run_id, since } }: { filter: Filter }) {
  const given = { format: 'jsonl', ...(kind.length > 0 && { kind: kind.join(',') }), ...(run_id && { run_id }) };
  const query = new URLSearchParams({ ...given, ...(since && { since }) });
  return (
    <a className="button slim" href={`/v1/audit?${query}`} download="audit.jsonl">
      Export
    </a>
  );
}

const toggled = (values: readonly AuditKind[], value: AuditKind): AuditKind[] =>
  values.includes(value) ? values.filter((each) => each !== value) : [...values, value];

/** Undefined while a person is still writing it. */
function dayOf(text: string | null): string | undefined {
  const time = text === null || text.length < 8 ? Number.NaN : Date.parse(text);
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}
