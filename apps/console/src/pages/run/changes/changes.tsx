import type { Page, Snapshot } from '@holdpoint/contract/wire';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useSearchParams } from 'wouter';
import { ask } from '../../../api/request.ts';
import { DiffView } from '../../../diff/diff-view.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { runPath, type ShownRun } from '../shown-run.ts';
import { SnapshotChoice } from './snapshot-choice.tsx';

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
