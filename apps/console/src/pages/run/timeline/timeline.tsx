import type { StepSummary, Task, Turn } from '@holdpoint/contract/wire';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { memo, useMemo, useRef, useState } from 'react';
import { Link } from 'wouter';
import { ask } from '../../../api/request.ts';
import { Empty, Loading } from '../../../parts/empty.tsx';
import { isOver } from '../../../parts/is-over.ts';
import { StepStatus } from '../../../parts/status.tsx';
import { ProblemNote, Text } from '../../../parts/text.tsx';
import { spanText } from '../../../parts/time.tsx';
import { useTop } from '../../../parts/use-top.ts';
import { runPath, type ShownRun } from '../shown-run.ts';
import { useNextFailure } from './use-next-failure.ts';
import { useSteps } from './use-steps.ts';

const problems = new Set<StepSummary['status']>([
  ...(['failed', 'killed', 'timed_out', 'parked', 'indeterminate', 'rejected', 'expired'] as const),
]);

/** Steps that failed, or wait for a person. */
export const needsLook = ({ status }: StepSummary): boolean => problems.has(status);

interface Props {
  runId: string;
  step: StepSummary;
  /** The background task that the step started. */
  task: Task | undefined;
}

/** One step in a line: it opens its page. */
export const StepRow = memo(function StepRow({ runId, step, task }: Props) {
  const { started_at: from, settled_at: to } = step;
  return (
    <div className="step-row">
      <span className="numbers muted small step-number">{step.number ?? '—'}</span>
      <Link
        href={`/runs/${runId}/steps/${step.id}`}
        className="step-link"
        data-row=""
        data-failed={needsLook(step) ? '' : undefined}
      >
        <span className="mono step-tool">
          <Text>{step.tool}</Text>
        </span>
        <span className="one-line step-title">
          <Text>{step.title}</Text>
        </span>
      </Link>
      <span className="step-facts">
        {task?.child != null && (
          <Link className="small" href={`/runs/${task.child.run_id}`}>
            sub-agent
          </Link>
        )}
        {step.error !== null && (
          <code className="small step-error">
            <Text>{step.error}</Text>
          </code>
        )}
        {step.effect === 'external' && <span className="muted small">external</span>}
        {from !== null && to !== null && (
          <span className="muted small numbers">{spanText(Date.parse(to) - Date.parse(from))}</span>
        )}
        <StepStatus status={step.status} />
      </span>
    </div>
  );
});

type Row = { kind: 'turn'; turn: number; steps: number } | { kind: 'step'; step: StepSummary; task: Task | undefined };

/** The turns of the run and their steps. However long the run, the page has the rows of the screen alone. */
export function Timeline({ run }: ShownRun) {
  const { steps, isWhole, error } = useSteps(run.id);
  const tasks = useTasksByStep(run.id);
  const [onlyProblems, setOnlyProblems] = useState(false);
  const shown = useMemo(() => (onlyProblems ? steps.filter(needsLook) : steps), [steps, onlyProblems]);
  const rows = useMemo(() => rowsOf(shown, tasks), [shown, tasks]);
  if (error && steps.length === 0) return <ProblemNote error={error} />;
  if (steps.length === 0 && !isWhole) return <Loading of="the steps" />;
  if (steps.length === 0) return <Nothing run={run} />;
  return (
    <section className="stack" aria-label="Timeline">
      <div className="spread">
        <p className="muted small numbers" role="status">
          {steps.length.toLocaleString('en')} {steps.length === 1 ? 'step' : 'steps'}
          {isWhole ? '' : ', reading more'}
        </p>
        <button
          type="button"
          className="choice"
          aria-pressed={onlyProblems}
          onClick={() => setOnlyProblems(!onlyProblems)}
        >
          Needs a look
        </button>
      </div>
      {rows.length === 0 ? <p className="muted">No step failed or waits.</p> : <Rows rows={rows} run={run} />}
    </section>
  );
}

function Nothing({ run }: ShownRun) {
  return (
    <Empty icon="clock" title="No steps yet">
      <p>
        {isOver(run.status) ? 'The run ended before its first step.' : 'They appear here as soon as they are planned.'}
      </p>
    </Empty>
  );
}

const heights = { turn: 40, step: 44 };

function Rows({ rows, run }: { rows: readonly Row[] } & ShownRun) {
  const list = useRef<HTMLDivElement>(null);
  const top = useTop(list);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: (at) => heights[rows[at]?.kind ?? 'step'],
    getItemKey: (at) => keyOf(rows[at]) ?? at,
    overscan: 20,
    scrollMargin: top,
  });
  const shown = virtual.getVirtualItems();
  useNextFailure({
    count: rows.length,
    isFailed: (at) => isFailed(rows[at]),
    scrollTo: (at) => virtual.scrollToIndex(at, { align: 'center' }),
    isShown: (at) => shown.some(({ index }) => index === at),
  });
  const turns = useTurns(
    run,
    shown.flatMap(({ index }) => turnOf(rows[index])),
  );
  return (
    <div ref={list} className="timeline" style={{ height: virtual.getTotalSize() }}>
      {shown.map(({ index, key, start }) => {
        const row = rows[index];
        return row === undefined ? null : (
          <div
            key={key}
            data-index={index}
            ref={virtual.measureElement}
            className="timeline-item"
            style={{ transform: `translateY(${start - top}px)` }}
          >
            {row.kind === 'step' ? (
              <StepRow runId={run.id} step={row.step} task={row.task} />
            ) : (
              <TurnRow row={row} turn={turns.get(row.turn)} isModel={run.planner === 'model'} />
            )}
          </div>
        );
      })}
    </div>
  );
}

function TurnRow({ row, turn, isModel }: { row: Row & { kind: 'turn' }; turn: Turn | undefined; isModel: boolean }) {
  const usage = turn?.usage;
  return (
    <div className="turn-row">
      <h2 className="small">
        {isModel ? 'Turn' : 'Group'} {row.turn}
      </h2>
      {turn !== undefined && turn.message !== '' && (
        <span className="muted small one-line">
          <Text most={200}>{turn.message}</Text>
        </span>
      )}
      {usage != null && (
        <span className="muted small numbers turn-usage">
          {(usage.input_tokens + usage.output_tokens).toLocaleString('en')} tokens
          {usage.cost_usd !== null && ` · $${usage.cost_usd.toFixed(4)}`}
        </span>
      )}
    </div>
  );
}

function rowsOf(steps: readonly StepSummary[], tasks: ReadonlyMap<string, Task>): Row[] {
  const rows: Row[] = [];
  let head: (Row & { kind: 'turn' }) | undefined;
  for (const step of steps) {
    if (step.turn !== head?.turn) {
      head = { kind: 'turn', turn: step.turn, steps: 0 };
      rows.push(head);
    }
    head.steps += 1;
    rows.push({ kind: 'step', step, task: tasks.get(step.id) });
  }
  return rows;
}

const isFailed = (row: Row | undefined): boolean => row?.kind === 'step' && needsLook(row.step);
const keyOf = (row: Row | undefined): string | undefined =>
  row === undefined ? undefined : row.kind === 'step' ? row.step.id : `turn ${row.turn}`;
const turnOf = (row: Row | undefined): number[] =>
  row === undefined ? [] : [row.kind === 'step' ? row.step.turn : row.turn];

/** What the model said in the turns of the first pages: a run of thousands of turns has them in its conversation. */
function useTurns(run: ShownRun['run'], shown: readonly number[]): ReadonlyMap<number, Turn> {
  const isWanted = run.planner === 'model' && shown.some((turn) => turn <= 500);
  const { data } = useQuery({
    queryKey: ['turns', run.id, run.turn],
    enabled: isWanted,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => ask<{ data: Turn[] }>({ path: runPath(run.id, '/turns'), query: { limit: 500 }, signal }),
  });
  return useMemo(
    () => new Map((data?.data ?? []).filter(({ undone }) => !undone).map((turn) => [turn.turn, turn])),
    [data],
  );
}

function useTasksByStep(runId: string): ReadonlyMap<string, Task> {
  const { data } = useQuery({
    queryKey: ['run', runId, 'tasks'],
    queryFn: ({ signal }) => ask<{ data: Task[] }>({ path: runPath(runId, '/tasks'), signal }),
  });
  return useMemo(() => new Map((data?.data ?? []).map((task) => [task.step_id, task])), [data]);
}
