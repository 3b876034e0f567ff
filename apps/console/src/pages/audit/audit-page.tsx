import type { AuditKind, AuditRecord, Page } from '@holdpoint/contract/wire';
import { useInfiniteQuery } from '@tanstack/react-query';
import { ask } from '../../api/request.ts';
import { Button } from '../../parts/button.tsx';
import { Empty, Loading } from '../../parts/empty.tsx';
import { FilterField } from '../../parts/filter-field.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { useFilters } from '../../parts/use-filters.ts';
import { useTitle } from '../../parts/use-title.ts';
import { Needs } from '../../session/needs.tsx';
import { RecordLine } from './record-line.tsx';
import { Seal } from './seal.tsx';

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
