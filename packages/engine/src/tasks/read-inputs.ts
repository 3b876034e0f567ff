import { setTimeout as delay } from 'node:timers/promises';
import type { EventOf, TaskInput } from '@holdpoint/contract';
import type { WorkerDeps } from '../deps.ts';
import { fromPayload, readLog, readTask } from '../log/index.ts';

/** A person at a terminal does not feel this delay, and an open input costs ten small reads a second. */
const lookEveryMs = 100;

/**
 * The texts sent to a running command, in the order of the log, each once. Ends with the command, or with its last input.
 * @param after the sequence number before the start of the command
 */
export async function* readInputs(
  deps: Pick<WorkerDeps, 'redis' | 'blobs' | 'logger'>,
  { run_id, task_id, after }: { run_id: string; task_id: string; after: number },
  signal: AbortSignal,
): AsyncGenerator<TaskInput> {
  let seq = after;
  let last: string | undefined;
  while (!signal.aborted) {
    const found = await newInputs(deps, { run_id, task_id, after: seq, last }).catch((error: unknown) => {
      deps.logger.warn(
        { run_id, task_id, err: error },
        'the input of a command could not be read; another try follows',
      );
      return { seq, inputs: [] };
    });
    for (const { step_id, data } of found.inputs) {
      last = step_id;
      const input = await fromPayload(deps.blobs, data.input);
      yield input;
      if (input.end) return;
    }
    seq = found.seq;
    await delay(lookEveryMs, undefined, { signal }).catch(() => {});
  }
}

interface Place {
  run_id: string;
  task_id: string;
  after: number;
  /** The step of the last known input. */
  last: string | undefined;
}

async function newInputs(
  { redis }: Pick<WorkerDeps, 'redis'>,
  { run_id, task_id, after, last }: Place,
): Promise<{ seq: number; inputs: EventOf<'task.input_sent'>[] }> {
  const task = await readTask(redis, run_id, task_id);
  if (task?.input === undefined || task.input.step_id === last) return { seq: after, inputs: [] };
  const events = await readLog(redis, run_id, { after });
  const inputs = events
    .filter((event) => event.type === 'task.input_sent')
    .filter(({ data }) => data.task_id === task_id);
  return { seq: events.at(-1)?.seq ?? after, inputs };
}
