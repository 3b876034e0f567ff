import { availableParallelism } from 'node:os';
import type { Failure } from './judge.ts';
import { inParallel } from './lock.ts';
import { type Group, groupCases } from './operator.ts';
import type { ReadCase } from './parse-cases.ts';
import { isShared, runCase } from './run-case.ts';
import { type Bench, openBench } from './system.ts';

/** The end of a case. A failing disputed case counts as skipped, a passing disputed case as failed. */
export interface Outcome {
  one: ReadCase;
  status: 'passed' | 'failed' | 'skipped';
  failures: readonly Failure[];
  /** The reason of the skip. */
  reason?: string;
}

/** Runs cases on systems of their own. Most of a case is waiting, so several run at once. */
export async function runCases(cases: readonly ReadCase[], { keep }: { keep: boolean }): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const group of groupCases(cases)) outcomes.push(...(await runGroup(group, keep)));
  return cases.flatMap((one) => outcomes.filter((outcome) => outcome.one === one));
}

async function runGroup(group: Group<ReadCase>, keep: boolean): Promise<Outcome[]> {
  await using bench = await openBench(group, { keep });
  const cores = availableParallelism();
  const isTimed = ({ expect: { max_ms } }: ReadCase) => max_ms !== undefined;
  const run = (one: ReadCase) => outcomeOf(bench, one);
  // Times of the calls count: other work of this machine must not.
  const timed = await inParallel(group.cases.filter(isTimed), 1, run);
  const untimed = group.cases.filter((one) => !isTimed(one));
  return [...timed, ...(await inParallel(untimed, cores * 3, run))];
}

async function outcomeOf(bench: Bench, one: ReadCase): Promise<Outcome> {
  const reason = await whySkipped(bench, one);
  if (reason !== undefined) return { one, status: 'skipped', failures: [], reason };
  const run = (): Promise<Failure[]> => runCase(bench, one).catch(unsettled);
  const failures = await (isShared(one) ? bench.stubs.alone(run) : run());
  if (one.disputed === undefined) return { one, status: failures.length === 0 ? 'passed' : 'failed', failures };
  if (failures.length > 0) return { one, status: 'skipped', failures, reason: `disputed: ${one.disputed}` };
  return { one, status: 'failed', failures: [{ pointer: '/disputed', expected: 'a failure', got: 'it passes' }] };
}

async function whySkipped(bench: Bench, { dangerous, skip_if }: ReadCase): Promise<string | undefined> {
  if (dangerous && !bench.isolated) return 'dangerous: files, network, processes and system calls are not all enforced';
  return skip_if === 'root' && (await bench.root()) ? 'tools run as root' : undefined;
}

const unsettled = (error: unknown): Failure[] => [
  { pointer: '', expected: 'a settled call', got: error instanceof Error ? error.message : String(error) },
];
