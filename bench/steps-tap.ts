/**
 * Loaded before a worker by the bench of steps: notes when the parts of a step begin and end. Redis and spawn are seen through their
 * diagnostics channels; the executor, the sandbox and the workspaces are wrapped where a worker with metrics wraps them. SIGUSR2 writes the
 * notes to the file BENCH_TAP, and forgets them.
 */
import { tracingChannel } from 'node:diagnostics_channel';
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

/** `idle`: a worker of BullMQ waits for a job. */
export type Part =
  | 'tool'
  | 'spawn'
  | 'set-up'
  | 'command'
  | 'snapshot'
  | 'admit'
  | 'append'
  | 'queue'
  | 'read'
  | 'idle';

export interface Interval {
  part: Part;
  begin: number;
  end: number;
  /** Milliseconds computed by the worker and Redis up to the begin of a tool. */
  computed?: { worker: number; redis: number };
}

let noted: Interval[] = [];
const note = (part: Part, begin: number, end = performance.now()): void => void noted.push({ part, begin, end });

const begins = new WeakMap<object, number>();
const began = (context: object): void => void begins.set(context, performance.now());
const ended = (part: Part, context: object): void => {
  const begin = begins.get(context);
  if (begin !== undefined) note(part, begin);
  begins.delete(context);
};

interface RedisCommand {
  command: string;
  args: readonly string[];
}
tracingChannel<RedisCommand>('ioredis:command').subscribe({
  start: began,
  asyncStart: (context) => ended(partOf(context as RedisCommand), context),
} as Parameters<ReturnType<typeof tracingChannel>['subscribe']>[0]);
// The begin and the end of a spawn have a context each; the process is the same.
const processOf = (context: object): object => (context as { process: object }).process;
tracingChannel('child_process.spawn').subscribe({
  start: (context: object) => began(processOf(context)),
  end: (context: object) => ended('spawn', processOf(context)),
} as Parameters<ReturnType<typeof tracingChannel>['subscribe']>[0]);

function partOf({ command, args }: RedisCommand): Part {
  if (command.startsWith('bz') || command.startsWith('xread')) return 'idle';
  const isScript = command.startsWith('eval');
  const key = (isScript ? args[2] : args[0]) ?? '';
  if (key.startsWith('{hp-')) return 'queue';
  return isScript && key.startsWith('hp:{run_') ? 'append' : 'read';
}

const { BENCH_TAP = '', BENCH_REDIS = '' } = process.env;

/** Milliseconds computed by all threads of a process. */
const computed = (pid: string): number =>
  readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => {
    const [nanoseconds] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ');
    return sum + Number(nanoseconds) / 1e6;
  }, 0);

/** A call of a tool also notes the computed time since the call before. */
const timedCall =
  (act: Act): Act =>
  async (...input) => {
    const now = { worker: computed('self'), redis: computed(BENCH_REDIS) };
    const begin = performance.now();
    try {
      return await act(...input);
    } finally {
      noted.push({ part: 'tool', begin, end: performance.now(), computed: now });
    }
  };

type Act = (...input: unknown[]) => Promise<unknown>;

/** The same object with a noted method. Its other methods keep their own `this`, possibly with private fields. */
const wrapped = <Wrapped extends object>(whole: Wrapped, acts: Record<string, (act: Act) => Act>): Wrapped =>
  new Proxy(whole, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      const bound = value.bind(target) as Act;
      return acts[String(name)]?.(bound) ?? bound;
    },
  });

const timed =
  (part: Part) =>
  (act: Act): Act =>
  async (...input) => {
    const begin = performance.now();
    try {
      return await act(...input);
    } finally {
      note(part, begin);
    }
  };

/** A command's set-up lasts until the command begins. */
const timedRun =
  (run: Act): Act =>
  async (command, ...rest) => {
    const { onBegun } = command as { onBegun?: () => void };
    let begin = performance.now();
    let part: Part = 'set-up';
    const begun = (): void => {
      note(part, begin);
      begin = performance.now();
      part = 'command';
      onBegun?.();
    };
    try {
      return await run({ ...(command as object), onBegun: begun }, ...rest);
    } finally {
      note(part, begin);
    }
  };

const instead = {
  meterExecutor: (executor: object) => wrapped(executor, { execute: timedCall }),
  meterSandbox: (sandbox: object) => wrapped(sandbox, { run: timedRun }),
  meterWorkspaces: (port: object) => wrapped(port, { snapshot: timed('snapshot'), admit: timed('admit') }),
};
Object.assign(globalThis, { benchTap: instead });

const files: Record<string, keyof typeof instead> = {
  '/packages/runtime/src/metrics/meter-executor.ts': 'meterExecutor',
  '/packages/runtime/src/metrics/meter-sandbox.ts': 'meterSandbox',
  '/packages/runtime/src/metrics/meter-workspaces.ts': 'meterWorkspaces',
};
const missing = new Set(Object.keys(files));
registerHooks({
  load(url, context, next) {
    const path = Object.keys(files).find((one) => url.endsWith(one));
    const name = path === undefined ? undefined : files[path];
    if (path === undefined || name === undefined) return next(url, context);
    missing.delete(path);
    return { format: 'module', source: `export const ${name} = globalThis.benchTap.${name};`, shortCircuit: true };
  },
});
// Without this check the work of a moved file would seem to take no time.
setTimeout(() => {
  if (missing.size > 0) throw new Error(`no such files: ${[...missing].join(', ')}`);
}, 10_000).unref();

process.on('SIGUSR2', () => {
  writeFileSync(`${BENCH_TAP}.new`, JSON.stringify(noted));
  renameSync(`${BENCH_TAP}.new`, BENCH_TAP);
  noted = [];
});
