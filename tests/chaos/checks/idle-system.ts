import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isTaskOver, isTerminal } from '@holdpoint/contract';
import type { Stuck } from '@holdpoint/contract/wire';
import type { RunState } from '@holdpoint/engine';
import { type Verdict, verdict } from '../../harness/verdict.ts';
import type { Found } from '../collect.ts';

/** Every run has ended, is paused, or waits for an approval. */
export function atRest({ runs }: Found): Verdict {
  const wrong: string[] = [];
  for (const [id, { run, approvals, steps, tasks }] of runs) {
    const isNamed =
      isTerminal(run.status) || run.status === 'paused' || approvals.some(({ status }) => status === 'pending');
    if (isNamed) continue;
    const open = steps.filter(({ status }) =>
      ['pending', 'queued', 'running', 'deferred', 'indeterminate'].includes(status),
    );
    const what = open.map((step) => `${step.call.tool} ${step.status}`).join(', ');
    wrong.push(
      `${id} is ${run.status} (${what}; tasks: ${tasks.map(({ status }) => status).join(', ')}; restore: ${run.restore}; writer: ${run.writer})`,
    );
  }
  return verdict('every run has ended, is paused or waits for an approval', runs.size, 'runs', wrong);
}

/** Without faults no process died between two writes, so each wake-up was sent and the sweeper found none missing. */
export function notRepaired({ runs }: Found, { repairs }: Stuck): Verdict {
  const wrong = Object.entries(repairs).map(([name, times]) => `${name} was repaired ${times} times`);
  for (const [id, { events }] of runs) {
    for (const { type, data } of events) if (type === 'run.repaired') wrong.push(`${id}: ${JSON.stringify(data)}`);
  }
  return verdict('without faults nothing was repaired', runs.size, 'runs', wrong);
}

/** An ended run has no writer, no pending restore and no open task. */
export function leases({ runs }: Found): Verdict {
  const wrong: string[] = [];
  const ended = [...runs.values()].filter(({ run }) => isTerminal(run.status));
  for (const { run, tasks } of ended) {
    if (run.writer !== '') wrong.push(`${run.id} is ${run.status}, and ${run.writer} holds its workspace`);
    if (run.restore !== undefined) wrong.push(`${run.id} is ${run.status}, and its workspace was not restored`);
    const open = tasks.filter(({ status }) => !isTaskOver(status));
    for (const task of open) wrong.push(`${run.id} is ${run.status}, and ${task.id} is ${task.status}`);
  }
  return verdict('no lease of an ended run is held', ended.length, 'ended runs', wrong);
}

/** A run fails because of its steps or of decisions, never because a process died. */
export function failures({ runs }: Found): Verdict {
  const wrong: string[] = [];
  let looked = 0;
  for (const [id, { run }] of runs) {
    if (run.status !== 'failed') continue;
    looked += 1;
    if (run.forked_from !== undefined && isMissed(runs, run.forked_from, run.reason?.code)) continue;
    if (!expectedReasons.has(run.reason?.code ?? ''))
      wrong.push(`${id} failed: ${run.reason?.code} ${run.reason?.message}`);
  }
  return verdict('no run failed because a process died', looked, 'failed runs', wrong);
}

/**
 * A fork lacks the tasks of its origin, and the file of a killed step there; from a canceled origin the fork keeps the tasks killed by the
 * cancel.
 */
function isMissed(runs: Found['runs'], from: NonNullable<RunState['forked_from']>, code: string | undefined): boolean {
  if (code === 'ENOTASK') return true;
  if (code === 'ECANCELED') return runs.get(from.run_id)?.run.status === 'canceled';
  const last = runs.get(from.run_id)?.steps.find(({ id }) => id === from.step_id);
  return code === 'ENOENT' && last !== undefined && last.status !== 'succeeded';
}

/** Rejected, answered, expired, killed by a person, indeterminate, or a reference to a step without a result. */
const expectedReasons: ReadonlySet<string> = new Set([
  ...['EREJECTED', 'ERESPONDED', 'EEXPIRED', 'EKILLED', 'EREFERENCE', 'EDIDNOTHAPPEN', 'EUNKNOWN'],
]);

/** Every open approval is listed: a person can only decide listed ones. */
export function listedApprovals({ runs, listed }: Found): Verdict {
  const pending = [...runs.values()].flatMap(({ run, approvals }) =>
    isTerminal(run.status) ? [] : approvals.filter(({ status }) => status === 'pending').map(({ id }) => ({ id, run })),
  );
  const wrong = pending.flatMap(({ id, run }) =>
    listed.includes(id) ? [] : [`${id} of ${run.id} is pending and not listed`],
  );
  return verdict('every pending approval is listed', pending.length, 'pending approvals', wrong);
}

/** Every job belongs to an open run, and every open run has a job or waits for a person. */
export function wakeUps({ runs, jobs, active }: Found): Verdict {
  const wrong: string[] = [];
  for (const job of jobs) {
    const run = job.runId === undefined ? undefined : runs.get(job.runId)?.run;
    if (!run) wrong.push(`the ${job.state} job ${job.id} in ${job.queue} belongs to no run`);
    else if (isTerminal(run.status))
      wrong.push(`the ${job.state} job ${job.id} in ${job.queue} belongs to ${run.id}, which is ${run.status}`);
  }
  for (const [id, { run, approvals }] of runs) {
    const isOver = isTerminal(run.status);
    if (isOver && active.includes(id)) wrong.push(`${id} is ${run.status}, and still in the active index`);
    if (!isOver && !active.includes(id)) wrong.push(`${id} is ${run.status}, and not in the active index`);
    const mayRest = isOver || run.status === 'paused' || approvals.some(({ status }) => status === 'pending');
    if (!mayRest && !jobs.some((job) => job.runId === id))
      wrong.push(`${id} is ${run.status}, and no job will wake it`);
  }
  return verdict('no job without a run, no run without a wake-up', jobs.length + runs.size, 'jobs and runs', wrong);
}

/** After its end a system leaves only data on the host. */
export function leftBehind({ directory, dataDir }: { directory: string; dataDir: string }): Verdict {
  const wrong: string[] = [];
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  for (const pid of pids) {
    if (Number(pid) === process.pid) continue;
    const words = readQuietly(`/proc/${pid}/cmdline`).replaceAll('\0', ' ');
    if (words.includes(directory)) wrong.push(`process ${pid}: ${words.slice(0, 200)}`);
  }
  for (const line of readQuietly('/proc/mounts').split('\n'))
    if (line.includes(directory)) wrong.push(`mount: ${line}`);
  const folders = ['making', 'locks', 'discarding', 'trash'].map((name) => join(dataDir, name));
  for (const path of folders) for (const name of namesIn(path)) if (name !== '') wrong.push(`${path}/${name}`);
  for (const run of namesIn(join(dataDir, 'runs'))) {
    // Next to the trees is the repository visible to commands, shared by all epochs.
    const trees = namesIn(join(dataDir, 'runs', run, 'trees')).filter((name) => /^\d+$/.test(name));
    if (trees.length > 1) wrong.push(`${run} has ${trees.length} trees`);
    if (existsSync(join(dataDir, 'runs', run, 'retired'))) wrong.push(`${run} has retired trees`);
  }
  return verdict('no process, mount or lease remains', pids.length, 'processes', wrong);
}

const readQuietly = (path: string): string => {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
};
const namesIn = (path: string): string[] => (existsSync(path) ? readdirSync(path) : []);
