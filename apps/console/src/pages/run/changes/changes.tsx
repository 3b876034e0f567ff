import type { Page, Snapshot } from '@holdpoint/contract/wire';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { useSearchParams } from 'wouter';
import { ask } from '../../../api/request.ts';
import { DiffView } from '../../../diff/diff-view.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { runPath, type ShownRun } from '../shown-run.ts';

/** What the run has changed so far, or between any two of its snapshots; the choice is in the address. */
export function Changes({ run }: ShownRun) {
  const [search, setSearch] = useSearchParams();
  const { data } = useQuery({
    queryKey: ['snapshots', run.id, run.workspace.snapshot],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      ask<Page<Snapshot>>({ path: runPath(run.id, '/snapshots'), query: { limit: 1000, order: 'desc' }, signal }),
  });
  const [from, to] = [search.get('from') ?? undefined, search.get('to') ?? undefined];
  if (run.workspace.snapshot === null) {
    return (
      <Empty icon="file" title="There are no files yet">
        <p>The workspace of the run is made when the run starts.</p>
      </Empty>
    );
  }
  const choose = (name: 'from' | 'to', id: string) =>
    setSearch((now) => {
      const next = new URLSearchParams(now);
      if (id === '') next.delete(name);
      else next.set(name, id);
      return next;
    });
  const snapshots = data?.data ?? [];
  return (
    <section className="stack" aria-label="Changes">
      <div className="snapshot-choices">
        <SnapshotChoice
          label="From"
          none="the source"
          value={from}
          all={snapshots}
          onChoose={(id) => choose('from', id)}
        />
        <SnapshotChoice label="To" none="now" value={to} all={snapshots} onChoose={(id) => choose('to', id)} />
        <a
          className="button slim"
          href={runPath(
            run.id,
            `/diff?${new URLSearchParams({ ...(from && { from }), ...(to && { to }), format: 'patch' })}`,
          )}
          download={`${run.id}.patch`}
        >
          Patch
        </a>
      </div>
      <DiffView runId={run.id} from={from} to={to ?? run.workspace.snapshot} />
    </section>
  );
}

interface Props {
  label: string;
  /** The words for no choice. */
  none: string;
  value: string | undefined;
  all: readonly Snapshot[];
  onChoose: (id: string) => void;
}

/** A snapshot by the step that left it. */
export function SnapshotChoice({ label, none, value, all, onChoose }: Props) {
  const id = useId();
  return (
    <div className="snapshot-choice">
      <label htmlFor={id} className="small">
        {label}
      </label>
      <select id={id} value={value ?? ''} onChange={(event) => onChoose(event.target.value)}>
        <option value="">{none}</option>
        {value !== undefined && !all.some((snapshot) => snapshot.id === value) && (
          <option value={value}>{value}</option>
        )}
        {all.map((snapshot) => (
          <option key={snapshot.id} value={snapshot.id}>
            {nameOf(snapshot)}
          </option>
        ))}
      </select>
    </div>
  );
}

function nameOf({ step, task_id, undone, files_changed }: Snapshot): string {
  const changed = `${files_changed} ${files_changed === 1 ? 'file' : 'files'}`;
  if (step === null) return task_id === null ? `the source (${changed})` : `a background command (${changed})`;
  return `step ${step.number ?? 'undone'}: ${step.tool} (${changed})${undone ? ', undone' : ''}`;
}
