import { Worker } from 'node:worker_threads';

export interface ThreadOptions<Message> {
  /** The end of an error's text: "… ended". */
  name: string;
  /** The `workerData` of the thread. */
  data?: unknown;
  /** The variables that the thread sees. `inherited`: a copy of those of the process. @default none */
  env?: 'inherited';
  /** Memory permitted to its objects. @default as much as Node gives */
  heapMb?: number;
  /** @default 32 */
  youngMb?: number;
  /** True: the thread keeps the process alive. @default false */
  keepsAlive?: boolean;
  onMessage(message: Message): void;
  /** Called once: an error ended the thread, or the thread ended by itself or by `terminate`. */
  onEnd(error: unknown): void;
}

/** Starts a thread of this process. A thread loads TypeScript as its process does, without the warning of Node. */
export function startThread<Message>(script: URL, options: ThreadOptions<Message>): Worker {
  const { name, data, heapMb, youngMb = 32, onMessage, onEnd } = options;
  const worker = new Worker(script, {
    ...{ workerData: data, execArgv: ['--disable-warning=ExperimentalWarning'] },
    ...(options.env !== 'inherited' && { env: {} }),
    resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: youngMb },
  });
  let isOver = false;
  const end = (error: unknown): void => {
    if (!isOver) onEnd(error);
    isOver = true;
  };
  if (options.keepsAlive !== true) worker.unref();
  worker.on('message', onMessage);
  worker.on('error', end);
  // Emitted after an error, too.
  worker.on('exit', (code) => end(new Error(`${name} ended with ${code}`)));
  return worker;
}

/** True when a thread ended because it needed more memory than permitted. */
export const isOutOfMemory = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
