import type { Run } from '@holdpoint/contract/wire';
import { useState } from 'react';
import { Link } from 'wouter';
import { runs } from '../../api/entities.ts';
import { type RunFilter, useRunCounts, useRunList } from '../../api/runs.ts';
import { Button } from '../../parts/button.tsx';
import { Empty, Loading } from '../../parts/empty.tsx';
import { FilterField } from '../../parts/filter-field.tsx';
import { LongList } from '../../parts/long-list.tsx';
import { Note } from '../../parts/note.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { useFilters } from '../../parts/use-filters.ts';
import { useTitle } from '../../parts/use-title.ts';
import { CancelMany } from './cancel-many.tsx';
import { RunLine } from './run-line.tsx';

const statuses = ['running', 'waiting', 'paused', 'queued', 'canceling', 'succeeded', 'failed', 'canceled'] as const;

/** All runs, the newest first. The filters stand in the address. */
export function RunsPage() {
  useTitle('Runs');
  const [filters, change] = useFilters();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const wanted = filters.get('status')?.split(',') ?? [];
  const status = statuses.filter((each) => wanted.includes(each));
  const label = filters.get('label') ?? undefined;
  const filter: RunFilter = {
    status: status.length > 0 ? status : undefined,
    title: filters.get('title') ?? undefined,
    label,
    created_after: dayOf(filters.get('after')),
    created_before: dayOf(filters.get('before')),
  };
  const list = useRunList(filter);
  const counts = useRunCounts(label !== undefined && /^[^:]+:/.test(label) ? label : undefined);
  const ids = [...new Set(list.data?.pages.flatMap((page) => page.ids))];
  const damaged = list.data?.pages.flatMap((page) => page.damaged) ?? [];
  return (
    <div className="page">
      <div className="page-head">
        <h1>Runs</h1>
        <Link href="/new" className="button main">
          New run
        </Link>
      </div>
      <div className="filters">
        <FilterField
          label="Title"
          icon="search"
          value={filters.get('title') ?? ''}
          onChange={(title) => change({ title })}
        />
        <FilterField
          label="Label name:value"
          value={filters.get('label') ?? ''}
          onChange={(text) => change({ label: text.trim() })}
        />
      </div>
      <fieldset className="choices">
        <legend className="hidden-text">Status</legend>
        {statuses.map((each) => (
          <button
            key={each}
            type="button"
            className="choice"
            aria-pressed={status.includes(each)}
            onClick={() => change({ status: toggled(status, each).join(',') })}
          >
            {each}
            <span className="numbers">{counts.data?.by_status[each]?.toLocaleString('en')}</span>
          </button>
        ))}
      </fieldset>
      {list.error && (
        <ProblemNote error={list.error}>
          <Button onClick={() => void list.refetch()}>Try again</Button>
        </ProblemNote>
      )}
      {damaged.map(({ id, detail, next }) => (
        <Note key={id} tone="bad" title={`${id} cannot be shown`}>
          {detail} {next}
        </Note>
      ))}
      {list.isPending && <Loading of="the runs" />}
      {list.data !== undefined && ids.length === 0 && !list.hasNextPage && (
        <Empty icon="runs" title="No such run">
          <p>{[...filters.keys()].length === 0 ? 'Submit the first one.' : 'No run matches these filters.'}</p>
        </Empty>
      )}
      {ids.length > 0 && (
        <LongList
          ids={ids}
          label="Runs"
          rowHeight={68}
          onEnd={() => {
            if (list.hasNextPage && !list.isFetching) void list.fetchNextPage();
          }}
          row={(id) => <RunLine id={id} isChosen={chosen.has(id)} onChoose={choose} />}
        />
      )}
      {chosen.size > 0 && <CancelMany chosen={runsOf(chosen)} onClear={() => setChosen(new Set())} />}
    </div>
  );

  function choose(id: string, isChosen: boolean): void {
    setChosen((before) => new Set(isChosen ? [...before, id] : [...before].filter((each) => each !== id)));
  }
}

const toggled = <Value,>(values: readonly Value[], value: Value): Value[] =>
  values.includes(value) ? values.filter((each) => each !== value) : [...values, value];

const dayOf = (text: string | null): string | undefined => {
  const time = text === null ? Number.NaN : Date.parse(text);
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
};

const runsOf = (ids: ReadonlySet<string>): Run[] =>
  [...ids].flatMap((id) => {
    const run = runs.get(id);
    return run === undefined ? [] : [run];
  });
