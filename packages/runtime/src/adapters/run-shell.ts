import { once } from 'node:events';
import type { Writable } from 'node:stream';
import * as contract from '@holdpoint/contract';
import { abortReason, type Executor, type PrepareEnd, type TaskContext, type TaskEnd } from '@holdpoint/engine/worker';
import type { Command, Sandbox, WorkspaceMount } from '@holdpoint/sandbox';
import type { Secrets } from '@holdpoint/secrets';
import type { LiveOutput } from '../live/live-hub.ts';
import { refusalNotes, secretVariables, useOf, withRefusals } from './command-use.ts';
import { fixSurroundings } from './determinism.ts';
import { openCallNetwork } from './run-network.ts';

/** The key that ends a line, as a pipe and as a terminal have it. */
const enterKeys = { pipe: '\n', terminal: '\r' } as const;

/**
 * Writes the inputs of a command, each when the one before is written, so a command that reads nothing keeps one text in memory. Resolves at the
 * end of the inputs or of the command.
 */
async function feedCommand(
  stdin: Writable,
  inputs: AsyncIterable<contract.TaskInput>,
  kind: 'pipe' | 'terminal',
): Promise<void> {
  // The command may end before its input is written.
  stdin.on('error', () => {});
  for await (const { text, enter, end } of inputs) {
    if (!stdin.writable) return;
    const written = stdin.write(text + (enter ? enterKeys[kind] : ''));
    if (!written) await Promise.race([once(stdin, 'drain'), once(stdin, 'close')]).catch(() => {});
    if (end) stdin.end();
  }
}

interface Deps {
  sandbox: Sandbox;
  secrets: Secrets;
  allowAddresses: readonly string[];
}

/** Runs a background command in a sandbox of its own, until the command ends or is killed. */
export async function runTask(
  { sandbox, secrets, allowAddresses }: Deps,
  workspace: WorkspaceMount,
  { command, cwd, env, timeout_ms, input }: contract.ShellSpec,
  { taskId, wallMs, limits, network, scope, seed, output, inputs, onConnection, onBegun, signal }: TaskContext,
): Promise<TaskEnd> {
  await using way = await openCallNetwork({ network, scope, onConnection }, { allowAddresses, secrets });
  const fixed = seed === undefined ? undefined : fixSurroundings(seed, Date.now);
  const argv = ['/bin/bash', '-c', command] as const;
  const proxy = way?.openProxy();
  using ended = abortAtEnd();
  const result = await sandbox.run({
    workspace,
    label: taskId,
    ...(input && { input: (stdin) => void feedCommand(stdin, inputs(ended.signal), input) }),
    ...(input === 'terminal' && { terminal: terminalSize }),
    argv: fixed?.argv(argv) ?? argv,
    cwd,
    env: { ...fixed?.environment, ...env, ...secretVariables(secrets, scope) },
    filter: () => secrets.redactor(scope.tenant).stream(),
    egress: proxy,
    output,
    onBegun,
    limits: { ...limits, wall_ms: Math.min(wallMs, timeout_ms ?? wallMs) },
    ...splitSignal(signal),
  });
  const { end, duration_ms } = result;
  const notes = refusalNotes(proxy);
  if (notes !== '') output.write('stderr', Buffer.from(notes));
  return { ...judgeTask(end), duration_ms, command: useOf(result) };
}

/**
 * Runs a command of `prepare` with the hosts of `prepare`, possibly different from the run's hosts. Downloads of package managers go to
 * /tmp. The /tmp of `prepare` is larger than for other commands.
 */
export async function runPrepare(
  { sandbox, secrets, allowAddresses }: Deps,
  workspace: WorkspaceMount,
  command: string,
  context: Parameters<Executor['prepare']>[1] & { output: LiveOutput },
): Promise<PrepareEnd> {
  const { wallMs, limits, network, scope, seed, onConnection, output: watch, signal } = context;
  await using way = await openCallNetwork({ network, scope, onConnection }, { allowAddresses, secrets });
  const fixed = seed === undefined ? undefined : fixSurroundings(seed, Date.now);
  const argv = ['/bin/bash', '-c', command] as const;
  const proxy = way?.openProxy();
  const ran = await sandbox.run({
    workspace,
    argv: fixed?.argv(argv) ?? argv,
    env: { ...fixed?.environment, ...secretVariables(secrets, scope) },
    filter: () => secrets.redactor(scope.tenant).stream(),
    egress: proxy,
    streams: 'combined',
    watch,
    kept_bytes: 2 * contract.longestTail,
    tmp_bytes: prepareTmpBytes,
    limits: { ...limits, wall_ms: wallMs },
    ...splitSignal(signal),
  });
  const { end, stdout, duration_ms } = withRefusals(ran, { proxy, to: 'stdout', watch });
  const { status, exit_code, detail } = judgeValidator(end);
  const output = stdout.text.slice(-contract.longestTail);
  return { succeeded: status === 'passed', exit_code, detail, output, duration_ms };
}

/** As much memory as a command has by default: files in /tmp count as memory of the command. */
const prepareTmpBytes = 4 * 1024 ** 3;

/** As many columns as a page of output is wide. */
const terminalSize = { columns: 120, rows: 40 };

/** A signal that aborts at the end of the block. */
function abortAtEnd(): { signal: AbortSignal } & Disposable {
  const controller = new AbortController();
  return { signal: controller.signal, [Symbol.dispose]: () => controller.abort() };
}

function judgeTask(end: contract.CommandEnd): TaskEnd {
  switch (end.status) {
    case 'exited': {
      const { exit_code, signal } = end;
      if (exit_code === 0 && signal === null) return { status: 'completed', exit_code };
      const message = signal === null ? `exit code ${exit_code}` : `ended by ${signal}`;
      return { status: 'failed', exit_code, reason: { code: 'EEXIT', message } };
    }
    case 'timed_out': {
      const message = `It was still running after ${end.after_ms / 1000} s, and was killed.`;
      return { status: 'timed_out', exit_code: null, reason: { code: 'ETIMEOUT', message } };
    }
    case 'quota': {
      const message = `It was killed: ${quotaText(end)}.`;
      return { status: 'failed', exit_code: null, reason: { code: 'EQUOTA', message } };
    }
    case 'killed':
      return { status: 'killed', exit_code: null, reason: { code: 'EKILLED', message: end.reason } };
    default:
      return end satisfies never;
  }
}

/** Runs a validator in a sandbox without a network. Only exit code 0 is a pass. */
export async function runValidator(
  sandbox: Sandbox,
  workspace: WorkspaceMount,
  { command, name, timeout_s }: contract.Validator,
  { limits, ...rest }: Pick<Command, 'filter' | 'signal'> & { limits: Partial<contract.ProcessLimits> },
): Promise<contract.ValidatorResult> {
  const { end, stdout, stderr, duration_ms, capabilities } = await sandbox.run({
    workspace,
    argv: ['/bin/bash', '-c', command],
    limits: { ...limits, wall_ms: timeout_s * 1000 },
    ...rest,
  });
  return {
    name: name ?? command.slice(0, longestName),
    command,
    ...judgeValidator(end),
    stdout: stdout.text,
    stdout_bytes: stdout.bytes,
    stderr: stderr.text,
    stderr_bytes: stderr.bytes,
    duration_ms,
    capabilities,
  };
}

const longestName = 100;

function judgeValidator(end: contract.CommandEnd): Pick<contract.ValidatorResult, 'status' | 'exit_code' | 'detail'> {
  switch (end.status) {
    case 'exited': {
      const { exit_code, signal } = end;
      const passed = exit_code === 0 && signal === null;
      return { status: passed ? 'passed' : 'failed', exit_code, detail: signal && `ended by ${signal}` };
    }
    case 'timed_out':
      return { status: 'timed_out', exit_code: null, detail: `still running after ${end.after_ms / 1000} s` };
    case 'quota':
      return { status: 'failed', exit_code: null, detail: quotaText(end) };
    case 'killed':
      return { status: 'killed', exit_code: null, detail: end.reason };
    default:
      return end satisfies never;
  }
}

/** Why a command over its limits was killed; half a sentence. */
function quotaText({ quota, limit }: Extract<contract.CommandEnd, { status: 'quota' }>): string {
  if (quota === 'disk') return `it wrote most while the free space of the disk fell towards ${limit} bytes`;
  return `it passed its ${quota} limit of ${limit}`;
}

/**
 * How a command ends when the signal of its job is aborted. A cancel or a kill by name asks the command to end first. When another worker
 * has the job, or this worker ends, the command is killed at once.
 */
export function splitSignal(signal: AbortSignal): { stop: AbortSignal; signal: AbortSignal } {
  const [gentle, hard] = [new AbortController(), new AbortController()];
  const forward = () => (abortReason(signal) === 'canceled' ? gentle : hard).abort(signal.reason);
  if (signal.aborted) forward();
  else signal.addEventListener('abort', forward, { once: true });
  return { stop: gentle.signal, signal: hard.signal };
}
