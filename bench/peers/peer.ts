import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A system for durable steps, with its server and its worker. */
export interface Peer {
  /**
   * Runs of no-op steps, sequential within a run, all runs concurrently.
   * @returns the end of each step of each run, in milliseconds of the same clock
   */
  run(input: { runs: number; steps: number }): Promise<number[][]>;
  /** Starts work with a wait for a release before its only step, and waits until all of the work is parked. @returns its keys */
  park(count: number): Promise<string[]>;
  /** @returns milliseconds from the releasing call to the begin of the step */
  release(key: string): Promise<number>;
  /** Processes of the server, and of a worker in a process of its own. */
  processes(): Promise<{ server: number[]; worker?: number }>;
  /** Removes parked work, ends started processes. */
  stop(): Promise<void>;
}

type Call = { id: number; method: keyof Peer; input: unknown };
type Answer = { id: number; value?: unknown; error?: string };

/** The main function of a peer's program: answers the calls of its parent. */
export async function servePeer(open: () => Promise<Peer>): Promise<void> {
  const peer = await open().catch((error: unknown) => {
    const answer: Answer = { id: 0, error: error instanceof Error ? error.message : String(error) };
    process.send?.(answer, () => process.exit(1));
  });
  if (peer === undefined) return;
  process.on('message', async ({ id, method, input }: Call) => {
    if (method === 'processes') globalThis.gc?.();
    const answer = await (peer[method] as (input: unknown) => Promise<unknown>)(input).then(
      (value) => ({ id, value }),
      (error: unknown) => ({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    );
    process.send?.(answer);
  });
  // Child processes end with this process.
  process.on('disconnect', () => process.exit(0));
  process.send?.({ id: 0 });
}

export type OpenPeer = Peer & { pid: number };

/** Starts the program of a peer. @throws the reason of an unavailable peer */
export async function openPeer(file: string): Promise<OpenPeer> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), {
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const waiting = new Map<number, (answer: Answer) => void>();
  const ended = once(child, 'exit').then(([code]) => ({ id: 0, error: `${file} ended with code ${code}` }));
  child.on('message', (answer: Answer) => waiting.get(answer.id)?.(answer));
  const answered = async (id: number): Promise<unknown> => {
    const { promise, resolve } = Promise.withResolvers<Answer>();
    waiting.set(id, resolve);
    const { value, error } = await Promise.race([promise, ended as Promise<Answer>]);
    waiting.delete(id);
    if (error !== undefined) throw new Error(error);
    return value;
  };
  await answered(0);
  let last = 0;
  const call =
    (method: keyof Peer) =>
    (input?: unknown): Promise<unknown> => {
      const id = ++last;
      child.send({ id, method, input } satisfies Call);
      return answered(id);
    };
  const methods = ['run', 'park', 'release', 'processes'] as const;
  return {
    ...(Object.fromEntries(methods.map((method) => [method, call(method)])) as unknown as Peer),
    pid: child.pid ?? 0,
    async stop() {
      await call('stop')();
      child.disconnect();
    },
  };
}
