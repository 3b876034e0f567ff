import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import type { CapabilityReport, CommandResult, ProcessLimits, WorkspaceFiles } from '@holdpoint/contract';
import type { Command, WorkspaceMount } from '@holdpoint/sandbox';
import type { FileOperation, FromWorker, Question } from './protocol.ts';
import { startAs, systemPath, type User } from './users.ts';

type RunOptions = Partial<Omit<Command, 'workspace'>>;

/** A worker in a separate process, for a test to inspect, measure and kill. */
export interface Worker extends AsyncDisposable {
  readonly pid: number;
  readonly capabilities: CapabilityReport;
  /** Runs a shell line. */
  run(workspace: WorkspaceMount, line: string, more?: RunOptions): Promise<CommandResult>;
  files(workspace: WorkspaceMount): WorkspaceFiles;
  killAll(workspaceId: string): Promise<void>;
  /** Resolves after a turn of its event loop. */
  ping(): Promise<void>;
  alive(): boolean;
  /** Resets the peak, and returns the present memory in bytes. */
  resetPeak(): number;
  /** Peak memory since then, in bytes. */
  peak(): number;
  /** SIGKILL. */
  kill(): Promise<void>;
}

export interface WorkerOptions {
  user: User;
  stateDir: string;
  home: string;
  bwrap: string;
  limits?: Partial<ProcessLimits>;
  /** Sandboxes in wait for a next command. @default the sandbox's */
  spares?: number;
  env?: Record<string, string>;
  /** An fd inherited by the worker, as from a careless supervisor. */
  leaked?: number;
}

export async function startWorker({
  user,
  stateDir,
  home,
  bwrap,
  limits,
  spares,
  env,
  leaked,
}: WorkerOptions): Promise<Worker> {
  const child = startAs(
    user,
    'tests/hostile/host/worker-process.ts',
    [stateDir, JSON.stringify({ limits, spares }), bwrap],
    {
      stdio: [
        'ignore',
        'inherit',
        'inherit',
        'ipc',
        ...(leaked === undefined ? [] : [leaked, 'ignore' as const, leaked]),
      ],
      serialization: 'advanced',
      env: { PATH: systemPath, HOME: home, ...env },
    },
  );
  const gone = once(child, 'exit');
  const pid = child.pid ?? 0;
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  const failAll = (error: Error) => {
    for (const one of waiting.values()) one.reject(error);
    waiting.clear();
  };
  const ready = new Promise<CapabilityReport>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      const error = new Error(`the worker ended: ${code ?? signal}`);
      reject(error);
      failAll(error);
    });
    child.on('message', (message) => {
      const reply = message as FromWorker;
      if ('ready' in reply) return resolve(reply.ready);
      const one = waiting.get(reply.id);
      waiting.delete(reply.id);
      if ('value' in reply) one?.resolve(reply.value);
      else one?.reject(Object.assign(new Error(reply.error.message), reply.error));
    });
  });
  const capabilities = await ready;
  let asked = 0;
  const ask = (question: Question, signal?: AbortSignal) => {
    const id = ++asked;
    signal?.addEventListener('abort', () => child.send({ id, abort: String(signal.reason?.message) }), { once: true });
    const answer = new Promise<unknown>((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      child.send({ id, question }, (error) => error && reject(error));
    });
    // A worker may be killed before the test waits for its answer.
    answer.catch(() => {});
    return answer;
  };
  const status = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
  return {
    pid,
    capabilities,
    run(workspace, line, { signal, ...more } = {}) {
      const question = { kind: 'run' as const, workspace, argv: ['/bin/bash', '-c', line] as const, ...more };
      return ask(question, signal) as Promise<CommandResult>;
    },
    files(workspace) {
      const operation =
        (name: FileOperation) =>
        (...args: unknown[]) =>
          ask({ kind: 'files', workspace, operation: name, args });
      const names: FileOperation[] = [
        ...(['stat', 'read', 'write', 'list', 'glob'] as const),
        ...(['makeDirectory', 'remove', 'move'] as const),
      ];
      return Object.fromEntries(names.map((name) => [name, operation(name)])) as unknown as WorkspaceFiles;
    },
    async killAll(workspaceId) {
      await ask({ kind: 'kill_all', workspaceId });
    },
    async ping() {
      await ask({ kind: 'ping' });
    },
    alive: () => child.exitCode === null && child.signalCode === null,
    resetPeak() {
      writeFileSync(`/proc/${pid}/clear_refs`, '5');
      return status('VmRSS');
    },
    peak: () => status('VmHWM'),
    async kill() {
      child.kill('SIGKILL');
      await gone;
    },
    async [Symbol.asyncDispose]() {
      if (child.connected) child.disconnect();
      await gone;
    },
  };
}
