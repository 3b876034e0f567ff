import { memo, useState } from 'react';
import { Link } from 'wouter';
import { idsOf, runs, useRun } from '../../api/entities.ts';
import { type RunFilter, useRunCounts, useRunList } from '../../api/runs.ts';
import { Empty } from '../../parts/empty.tsx';
import { EntityList } from '../../parts/entity-list.tsx';
import { FilterField } from '../../parts/filter-field.tsx';
import { isOver } from '../../parts/is-over.ts';
import { Badge } from '../../parts/note.tsx';
import { RunStatus } from '../../parts/status.tsx';
import { Text } from '../../parts/text.tsx';
import { Ago } from '../../parts/time.tsx';
import { useFilters } from '../../parts/use-filters.ts';
import { useTitle } from '../../parts/use-title.ts';
import { CancelMany } from './cancel-many.tsx';

interface Props {
  id: string;
  isChosen: boolean;
  onChoose: (id: string, isChosen: boolean) => void;
}

/** A run in the list, at its newest known state. */
export const RunLine = memo(function RunLine({ id, isChosen, onChoose }: Props) {
  const run = useRun(id);
  if (run === undefined) return null;
  const { title, status, usage, reason, pending_approvals: pending, labels, created_by, publication } = run;
  return (
    <div className="line">
      <input
        type="checkbox"
        checked={isChosen}
        disabled={isOver(status)}
        title={isOver(status) ? 'It is over' : undefined}
        aria-label={`Choose ${title}`}
        onChange={({ target }) => onChoose(id, target.checked)}
      />
      <div className="line-body">
        <div className="one-line">
          <Link
            href={`/runs/${id}`}
            className="line-link"
            data-row=""
            data-failed={status === 'failed' ? '' : undefined}
          >
            <Text most={160}>{title}</Text>
          </Link>
        </div>
        <div className="line-meta">
          {reason !== null && (
            <span className="one-line">
              <Text most={120}>{reason.message}</Text>
            </span>
          )}
          <span>
            {usage.steps} {usage.steps === 1 ? 'step' : 'steps'}
          </span>
          {usage.cost_usd > 0 && <span className="numbers">${usage.cost_usd.toFixed(2)}</span>}
          <span>
            {created_by !== null && <Text most={40}>{created_by}</Text>} <Ago at={run.created_at} />
          </span>
          {Object.entries(labels)
            .slice(0, 3)
            .map(([name, value]) => (
              <Badge key={name}>
                <Text most={40}>{`${name}: ${value}`}</Text>
              </Badge>
            ))}
        </div>
        <div className="line-meta">
          {pending > 0 && (
            <Badge tone="warn" icon="inbox">
              {pending} to decide
            </Badge>
          )}
          {publication.status === 'published' && <Badge tone="good">published</Badge>}
          <RunStatus status={status} />
        </div>
      </div>
    </div>
  );
});

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
      <EntityList
        list={list}
        ids={idsOf(list)}
        of="the runs"
        label="Runs"
        rowHeight={68}
        row={(id) => <RunLine id={id} isChosen={chosen.has(id)} onChoose={choose} />}
      >
        <Empty icon="runs" title="No such run">
          <p>{[...filters.keys()].length === 0 ? 'Submit the first one.' : 'No run matches these filters.'}</p>
        </Empty>
      </EntityList>
      {chosen.size > 0 && <CancelMany chosen={runs.some(chosen)} onClear={() => setChosen(new Set())} />}
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
