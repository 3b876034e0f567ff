import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

export interface TurndownLimits {
  /** Milliseconds until the process is ended, its start included. */
  deadline_ms: number;
  /** MB of its heap. */
  heap_mb: number;
  /** Characters of Markdown that come back at most. */
  max_chars: number;
}

const answerSchema = z.discriminatedUnion('ok', [
  z.strictObject({ ok: z.literal(true), markdown: z.string(), complete: z.boolean() }),
  /** `reason` completes a sentence: "it took longer than 5 s". */
  z.strictObject({ ok: z.literal(false), reason: z.string() }),
]);
export type Turndown = z.infer<typeof answerSchema>;

/**
 * Turns HTML into Markdown in a process of its own, which has ended when this returns. Turndown recurses and takes quadratic time and much
 * memory on some pages. In a thread that is not contained: a V8 that runs out of memory ends the whole process, limits of the thread or not.
 *
 * @throws the reason of `signal` when it is aborted
 */
export async function runTurndown(html: string, limits: TurndownLimits, signal?: AbortSignal): Promise<Turndown> {
  signal?.throwIfAborted();
  const deadline = AbortSignal.timeout(limits.deadline_ms);
  const child = start(limits);
  const exited = once(child, 'close');
  const kill = () => child.kill('SIGKILL');
  const stop = signal ? AbortSignal.any([signal, deadline]) : deadline;
  stop.addEventListener('abort', kill, { once: true });
  try {
    const output = child.stdout ? text(child.stdout) : Promise.resolve('');
    // It may be ended before it has read its page.
    child.stdin?.on('error', () => {});
    child.stdin?.end(JSON.stringify({ html, max_chars: limits.max_chars }));
    const [code, killedBy] = await exited;
    signal?.throwIfAborted();
    if (deadline.aborted) return { ok: false, reason: `it took longer than ${limits.deadline_ms / 1000} s` };
    if (code === 0) return answerSchema.parse(JSON.parse(await output));
    return { ok: false, reason: killedBy === 'SIGABRT' ? 'it took too much memory' : 'it failed' };
  } finally {
    stop.removeEventListener('abort', kill);
    kill();
    await exited;
  }
}

const program = fileURLToPath(new URL('./turndown-process.ts', import.meta.url));

/** The shell bounds its CPU time, so that it ends by itself even when this process is killed and nobody can end it; and leaves no core. */
function start({ deadline_ms, heap_mb }: TurndownLimits): ChildProcess {
  const bounds = 'ulimit -c 0; ulimit -t "$1"; shift; exec "$@"';
  const node = [process.execPath, '--disable-warning=ExperimentalWarning', `--max-old-space-size=${heap_mb}`, program];
  return spawn('/bin/sh', ['-c', bounds, 'sh', String(Math.ceil(deadline_ms / 1000) + 1), ...node], {
    // Nothing of this process: it reads what strangers wrote.
    env: {},
    stdio: ['pipe', 'pipe', 'ignore'],
  });
}
