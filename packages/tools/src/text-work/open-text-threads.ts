import { availableParallelism } from 'node:os';
import { textTasks } from './tasks.ts';
import { TextThread } from './text-thread.ts';
import type { TextInput, TextTaskName, TextWork } from './text-work.ts';
import type { Question } from './thread.ts';

export interface TextThreads {
  /** @param run the run of the call: the tasks of a single run never take all threads */
  of(run: string, signal: AbortSignal): TextWork;
  close(): Promise<void>;
}

export interface TextThreadLimits {
  /** At least 2: a thread always stays free for other runs. @default as many as processors, 2 to 4 */
  threads?: number;
  /** Milliseconds permitted to a task. @default 20 s */
  deadlineMs?: number;
  /** The heap limit of a thread. @default 512 MB */
  heapMb?: number;
  /** Milliseconds without work before a thread ends. @default 30 s */
  idleMs?: number;
}

interface Waiting {
  run: string;
  question: Question;
  signal: AbortSignal;
  resolve(output: unknown): void;
  reject(error: unknown): void;
}

/**
 * Threads for work on texts. A thread can be ended at any moment, by the deadline of its task or with the run. So can a process, but a
 * process outlives a killed worker, and 10 MB of a file take 30 ms through a pipe and 3 ms to a thread.
 */
export function openTextThreads(limits: TextThreadLimits = {}): TextThreads {
  const {
    threads: most = Math.min(Math.max(availableParallelism(), 2), 4),
    deadlineMs = 20_000,
    heapMb = 512,
    idleMs = 30_000,
  } = limits;
  const threads = new Set<TextThread>();
  const busy = new Map<TextThread, Waiting>();
  /** Waiting tasks by run; the runs take turns. */
  const queues = new Map<string, Waiting[]>();

  const take = (): Waiting | undefined => {
    for (const [run, queue] of queues) {
      const held = [...busy.values()].filter((one) => one.run === run).length;
      if (held >= most - 1) continue;
      const waiting = queue.shift();
      queues.delete(run);
      if (queue.length > 0) queues.set(run, queue);
      return waiting;
    }
    return undefined;
  };
  const start = (): TextThread => {
    const thread = new TextThread({ deadlineMs, heapMb, idleMs, onEnd: () => threads.delete(thread) });
    threads.add(thread);
    return thread;
  };
  const next = (): void => {
    if (busy.size >= most) return;
    const waiting = take();
    if (waiting === undefined) return;
    const thread = [...threads].find((one) => !busy.has(one)) ?? start();
    busy.set(thread, waiting);
    thread
      .ask(waiting.question, waiting.signal)
      .then(waiting.resolve, waiting.reject)
      .finally(() => {
        busy.delete(thread);
        next();
      });
    next();
  };
  const queue = (run: string, question: Question, signal: AbortSignal) =>
    new Promise<unknown>((resolve, reject) => {
      const waiting: Waiting = { run, question, signal, resolve, reject };
      const leave = () => {
        const queued = queues.get(run)?.filter((one) => one !== waiting) ?? [];
        if (queued.length > 0) queues.set(run, queued);
        else queues.delete(run);
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
      waiting.resolve = (output) => {
        signal.removeEventListener('abort', leave);
        resolve(output);
      };
      waiting.reject = (error) => {
        signal.removeEventListener('abort', leave);
        reject(error);
      };
      queues.set(run, [...(queues.get(run) ?? []), waiting]);
      next();
    });

  return {
    of: (run, signal) => ({
      async run(name, input) {
        signal.throwIfAborted();
        if (isSmall(name, input)) return await (textTasks[name] as (given: unknown) => never)(input);
        return (await queue(run, { name, input }, signal)) as never;
      },
    }),
    async close() {
      queues.clear();
      await Promise.all([...threads].map((thread) => thread.end()));
    },
  };
}

/**
 * Whether a task takes less time than its way to a thread. The slowest task takes less than 10 ms on any small text.
 */
function isSmall<Name extends TextTaskName>(name: Name, input: TextInput<Name>): boolean {
  const task = { name, input } as AnyTask;
  switch (task.name) {
    case 'edit': {
      const { data, edits } = task.input;
      const changed = edits.flatMap(({ old_string, new_string, replace_all }) =>
        replace_all ? [data.toString('latin1', 0, smallChange + 1)] : [old_string, new_string],
      );
      return data.length <= smallFile && isSmallChange(changed);
    }
    case 'patch': {
      const { data, patch } = task.input;
      return data.length <= smallFile && isSmallChange([patch]);
    }
    case 'hunks': {
      const { data, hunks } = task.input;
      const texts = hunks.flatMap(({ lines, anchors }) => [...lines.map(({ text }) => text), ...anchors]);
      return data.length <= smallFile && isSmallChange(texts);
    }
    case 'diff': {
      const { before, after } = task.input;
      return isSmallChange([before?.toString('latin1', 0, smallChange + 1) ?? '', after ?? '']);
    }
    case 'excerpt':
    case 'lines':
    case 'replace_first':
      return task.input.data.length <= smallRead;
    case 'nearest_paths':
      return task.input.listing.length <= smallFile;
    case 'long':
      return task.input.text.length + (task.input.stderr?.length ?? 0) <= smallText;
    case 'printed':
      return task.input.stdout.length + task.input.stderr.length <= smallText;
    case 'notebook':
      return task.input.data.length <= smallJson;
    case 'weigh':
      return task.input.text.length <= smallJson;
    case 'output':
    case 'page':
    case 'results':
      return false;
    default:
      return task satisfies never;
  }
}

type AnyTask = { [Name in TextTaskName]: { name: Name; input: TextInput<Name> } }[TextTaskName];

/** Bytes, for an edit of a single place: the searches for the text and for the nearest line take linear time. */
const smallFile = 32 * 1024;
/** Characters and lines of a comparison. A comparison takes quadratic time in the lines. */
const smallChange = 4000;
const fewLines = 100;
const smallJson = 64 * 1024;
/** Characters of an output. Finding failures in such a text takes 5 ms. */
const smallText = 128 * 1024;
const smallRead = 1024 * 1024;

function isSmallChange(texts: readonly string[]): boolean {
  const chars = texts.reduce((sum, text) => sum + text.length, 0);
  return chars <= smallChange && texts.reduce((sum, text) => sum + text.split('\n').length, 0) <= fewLines;
}
