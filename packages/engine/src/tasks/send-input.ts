import { setTimeout as delay } from 'node:timers/promises';
import { isTaskOver, type Problem, type SentInput, type TaskInput } from '@holdpoint/contract';
import type { WorkerDeps } from '../deps.ts';
import { type StepState, sendInput, type TaskState } from '../domain/index.ts';
import { append, fromPayload, readTask, retryWhileContended, toPayload } from '../log/index.ts';

/** Time for a queued command to begin. */
const startPatienceMs = 10_000;
const lookEveryMs = 20;

/**
 * Records a text for the standard input of a running command; the worker of the command writes the text. A repeated attempt of the step sends
 * nothing again.
 * @returns undefined: the run has no such task
 */
export async function sendTaskInput(
  deps: WorkerDeps,
  { run_id, step, task_id }: { run_id: string; step: StepState; task_id: string },
  input: TaskInput,
  signal: AbortSignal,
): Promise<SentInput | undefined> {
  const task = await begun(deps, { run_id, task_id }, signal);
  if (task === undefined) return undefined;
  if (task.input?.step_id === step.id) return sent(task.input);
  const refused = await refusalOf(deps, task);
  if (refused !== undefined) return { status: 'refused', problem: refused };
  const payload = await toPayload(deps.blobs, input);
  const [stdout, stderr] = await Promise.all([bytesOf(deps, task_id, 'stdout'), bytesOf(deps, task_id, 'stderr')]);
  const last = { step_id: step.id, end: input.end, stdout, stderr };
  let result: SentInput = sent(last);
  await retryWhileContended(task_id, async () => {
    const now = await readTask(deps.redis, run_id, task_id);
    if (now?.status === 'running')
      return (await append(deps, run_id, sendInput(now, { step, last, input: payload }))).ok;
    result = { status: 'refused', problem: ended(task_id) };
    return true;
  });
  return result;
}

const sent = ({ stdout, stderr }: { stdout: number; stderr: number }): SentInput => ({
  status: 'sent',
  stdout,
  stderr,
});

/** The task as soon as it runs, or after a time of patience. */
async function begun(
  deps: WorkerDeps,
  { run_id, task_id }: { run_id: string; task_id: string },
  signal: AbortSignal,
): Promise<TaskState | undefined> {
  const deadline = performance.now() + startPatienceMs;
  for (;;) {
    const task = await readTask(deps.redis, run_id, task_id);
    if (task?.status !== 'queued' || performance.now() > deadline) return task;
    await delay(lookEveryMs, undefined, { signal });
  }
}

async function refusalOf(deps: WorkerDeps, task: TaskState): Promise<Problem | undefined> {
  if (isTaskOver(task.status) || task.status === 'capturing') return ended(task.id);
  const spec = await fromPayload(deps.blobs, task.about.spec);
  if (!('command' in spec) || spec.input === undefined)
    return {
      code: 'ENOINPUT',
      message: `${task.id} (${task.about.title}) was started without an input.`,
      next: 'Start the command again with an input, or give the text with the command: a pipe, a file or an option.',
    };
  if (task.input?.end)
    return {
      code: 'EINPUTENDED',
      message: `The input of ${task.id} has ended by an earlier call.`,
      next: 'Read its output, or start the command again.',
    };
  if (task.status === 'running') return undefined;
  return {
    code: 'ENOTBEGUN',
    message: `${task.id} has not begun to run.`,
    next: 'All places for background commands are taken: end or await another one, then send the input again.',
  };
}

const ended = (taskId: string): Problem => ({
  code: 'ETASKENDED',
  message: `${taskId} is over, so nothing reads its input.`,
  next: 'Read its output and its exit code, and start it again if it is still needed.',
});

const bytesOf = async (deps: WorkerDeps, taskId: string, stream: 'stdout' | 'stderr'): Promise<number> =>
  (await deps.outputs.read(taskId, { stream, from: 0, maxBytes: 1 })).total;
