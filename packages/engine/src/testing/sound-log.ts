import { isSettled, isTaskOver, isTerminal, type LoggedEvent } from '@holdpoint/contract';
import { expect } from 'vitest';
import type { EngineDeps } from '../deps.ts';
import { fold } from '../events/fold.ts';
import { readLog } from '../log/read-log.ts';
import { readAll, readApprovals, readTasks } from '../log/read-state.ts';
import { listSteps } from '../queries/list-steps.ts';
import { inMemoryCatalog } from './in-memory-worker.ts';
import { soundHistory } from './sound-history.ts';
import { soundPages } from './sound-pages.ts';
import { soundSnapshots } from './sound-snapshots.ts';
import { soundTrace } from './sound-trace.ts';
import { soundTurns } from './sound-turns.ts';
import { unsoundVerdicts } from './sound-verdicts.ts';

/**
 * Holds for every run at any time: its sequence numbers are dense, its log folds to its state, its counters agree with its steps and
 * approvals, its pages of steps have them all in order, its pages of turns and of snapshots have what its log has, and the lists of the
 * tenant have its approvals. A replay gives each call its verdict again. A run that has ended has nothing open
 * or held.
 * @param deps.catalog that of the worker. @default the one in memory
 */
export async function soundLog(
  deps: Pick<EngineDeps, 'redis' | 'blobs'> & Partial<Pick<EngineDeps, 'catalog'>>,
  runId: string,
): Promise<LoggedEvent[]> {
  const events = await readLog(deps.redis, runId, { limit: 100_000 });
  expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
  expect(await readAll(deps.redis, runId)).toEqual(fold(events));
  const { run, steps, approvals, tasks } = await listSteps(deps, runId);
  const open = steps.filter((step) => step.call.turn === run.turn && !isSettled(step.status));
  const pending = approvals.filter((approval) => approval.status === 'pending');
  await soundSnapshots(deps, run, events);
  await soundHistory(deps, run, events);
  expect(await readTasks(deps.redis, runId)).toEqual(tasks);
  expect(await readApprovals(deps.redis, runId)).toEqual(approvals);
  await soundPages(deps, runId, steps);
  await soundTurns(deps, runId, events);
  expect(run.open).toBe(open.length);
  expect(run.parked).toBe(pending.length);
  expect(run.received - run.taken).toBeGreaterThanOrEqual(0);
  if (run.awaits_calls !== undefined) {
    expect([run.status, run.open, run.parked, run.received - run.taken]).toEqual(['waiting', 0, 0, 0]);
  } else if (run.status === 'waiting' && run.model_wait !== undefined && run.open === 0) {
    expect(run.parked).toBe(0);
  } else if (run.status === 'waiting') {
    expect(pending.length + (run.agents_total?.waiting ?? 0)).toBeGreaterThan(0);
  }
  if (run.status === 'running') expect(pending).toHaveLength(0);
  const agents = tasks.filter(({ about }) => about.kind === 'agent');
  expect(run.agents).toBe(agents.length);
  const reports = agents.flatMap(({ status, report }) => (report === undefined || isTaskOver(status) ? [] : [report]));
  const { waiting = 0, approvals: theirs = 0, paused = 0 } = run.agents_total ?? {};
  expect(waiting).toBe(reports.filter((report) => report.waiting).length);
  expect(theirs).toBe(reports.reduce((sum, report) => sum + report.approvals, 0));
  expect(paused).toBe(reports.reduce((sum, report) => sum + report.paused, 0));
  expect(await unsoundVerdicts({ catalog: inMemoryCatalog({}), ...deps }, run, events)).toEqual([]);
  if (isTerminal(run.status)) expect([run.open, run.parked, run.open_tasks, run.writer]).toEqual([0, 0, 0, '']);
  soundTrace(events);
  return events;
}
