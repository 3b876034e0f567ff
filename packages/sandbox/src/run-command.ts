import { availableParallelism } from 'node:os';
import type { Readable } from 'node:stream';
import type { CapabilityReport, CapturedStream, CommandEnd, CommandResult, ProcessLimits } from '@holdpoint/contract';
import { Capture, endTogether } from './capture.ts';
import { checkCommand } from './check-command.ts';
import { type SpaceGuard, writtenBy } from './disk-space/space-guard.ts';
import type { FrozenStart } from './frozen-start.ts';
import { resolveLimits } from './limits.ts';
import { OutputPace } from './output-pace.ts';
import type { MeasuredUse } from './process/command-use.ts';
import { startGrace } from './process/grace.ts';
import { Silence } from './silence.ts';
import { inTerminal } from './terminal.ts';
import { type Command, type Driver, SandboxError, type Tree, type TreeEnd, type TreeRequest } from './tree.ts';
import { sizeAtStart, sizeBefore, watch } from './watch.ts';
import type { WorkspaceSizes } from './workspace-size/sizes.ts';

export interface RunDeps {
  driver: Driver;
  capabilities: CapabilityReport;
  limits: Partial<ProcessLimits> | undefined;
  sizes: WorkspaceSizes;
  guard: SpaceGuard;
  /** @default starts at once */
  frozenStart?: FrozenStart;
  /** Aborts when the sandbox is closed. */
  closing: AbortSignal;
  /** Monotonic clock in milliseconds. */
  now(): number;
}

/** Both streams of a command become one pipe. `sh` is safer than bash: no variable of the environment makes `sh` read a file first. */
const combining = ['/bin/sh', '-c', 'exec "$@" 2>&1', 'sh'] as const;

const argvOf = ({ argv, streams, terminal }: Command): Command['argv'] => {
  if (terminal !== undefined) return inTerminal(terminal, argv);
  return streams === 'combined' ? [...combining, ...argv] : argv;
};

/** Why the worker killed the tree. The first cause counts. */
type KillCause = Exclude<CommandEnd, { status: 'exited' }>;

/** Throws for a read-only workspace without isolation: only bubblewrap can keep a command from writing. */
function checkReadOnly({ name }: Driver, { workspace }: Command): void {
  if (workspace.readOnly !== true || name === 'bubblewrap') return;
  throw new SandboxError('ECOMMANDINVALID', `The sandbox driver ${name} cannot keep a command from writing.`, {
    retryable: false,
    next: 'Use bubblewrap, or submit the run without modes.read_only.',
  });
}

/** Throws when a command allowed as read-only could run without the wall. */
function checkOnly({ name }: Driver, { only, egress }: Command): void {
  if (only === undefined) return;
  if (egress !== undefined) throw new TypeError('a command that only reads has no network');
  if (name === 'bubblewrap') return;
  throw new SandboxError('ECOMMANDINVALID', `The sandbox driver ${name} cannot keep a command to reading.`, {
    retryable: false,
    next: 'Run workers with bubblewrap, or let the policy judge the line as one that writes: begin it with WRITES=1.',
  });
}

/** Throws for an allowlist without isolation: the command would reach the whole network. */
function checkEgress({ name }: Driver, { egress }: Command): void {
  if (egress === undefined || name === 'bubblewrap') return;
  throw new SandboxError('ECOMMANDINVALID', `The sandbox driver ${name} cannot enforce a network allowlist.`, {
    retryable: false,
    next: 'Use bubblewrap, or submit the run without a network.',
  });
}

export async function runCommand(deps: RunDeps, command: Command): Promise<CommandResult> {
  const cwd = checkCommand(command);
  checkEgress(deps.driver, command);
  checkReadOnly(deps.driver, command);
  checkOnly(deps.driver, command);
  const limits = resolveLimits(deps.limits, command.limits);
  const { path } = command.workspace;
  const [before] = await Promise.all([sizeBefore(deps, { path, limits }), deps.driver.prepared?.(command)]);
  const { output } = command;
  const stdout = new Capture(command.kept_bytes);
  const stderr = new Capture(command.kept_bytes);
  const captured = (): [CapturedStream, CapturedStream] =>
    output ? [dropped(stdout), dropped(stderr)] : endTogether(stdout, stderr, limits.output_bytes);
  let broken: { error: unknown } | undefined;
  const started = deps.now();
  const settle = (end: CommandEnd, use: MeasuredUse = {}): CommandResult => {
    const [out, err] = captured();
    return {
      ...{ end, use, stdout: out, stderr: err },
      duration_ms: Math.round(deps.now() - started),
      capabilities: deps.capabilities,
    };
  };
  const signal = AbortSignal.any([command.signal, deps.closing]);
  const aborted = [signal, command.stop].find((one) => one?.aborted);
  if (aborted) return settle(killedBy(aborted));

  let hasBegun = false;
  const request: TreeRequest = {
    workspace: command.only === undefined ? command.workspace : { ...command.workspace, readOnly: true },
    only: command.only,
    label: command.label ?? null,
    argv: argvOf(command),
    cwd,
    env: command.env ?? {},
    egress: command.egress ?? null,
    limits,
    stdin: command.stdin ?? null,
    keepsInput: command.input !== undefined,
    hostFiles: null,
    tmpBytes: command.tmp_bytes,
    onBegun() {
      hasBegun = true;
      command.onBegun?.();
    },
  };
  let size: ReturnType<typeof sizeAtStart> | undefined;
  const start = () => {
    size = before === undefined ? sizeAtStart(deps, { path, limits }) : undefined;
    return startTree(deps.driver, request);
  };
  const starting = deps.frozenStart?.(command.workspace, start) ?? start();
  const tree = starting instanceof Promise ? await starting : starting;
  let cause = null as KillCause | null;
  const kill = (reason: KillCause) => {
    cause ??= reason;
    tree.kill();
  };
  const onAbort = () => kill(killedBy(signal));
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  let endGrace = () => {};
  let isAsked = false;
  const onStop = () => {
    if (cause !== null || command.stop === undefined) return;
    const stopped = killedBy(command.stop);
    isAsked = tree.terminate();
    if (isAsked) cause = stopped;
    endGrace = startGrace({ processes: () => tree.processes(), now: deps.now }, () => kill(stopped));
  };
  command.stop?.addEventListener('abort', onStop, { once: true });
  if (command.stop?.aborted) onStop();
  const timer = setTimeout(() => kill({ status: 'timed_out', after_ms: limits.wall_ms }), limits.wall_ms);
  let printed = 0;
  const cuts = output === undefined && command.over_output !== 'kill';
  const pace = cuts ? new OutputPace([tree.stdout, tree.stderr], deps.now) : undefined;
  const flushes: (() => void)[] = [];
  const silences: Silence[] = [];
  const collect = (stream: Readable, capture: Capture, name: 'stdout' | 'stderr') => {
    const keep = (chunk: Buffer) => {
      capture.push(chunk); // with `output`, stderr may explain a failed set-up
      if (chunk.length > 0) command.watch?.write(name, chunk);
      if (output === undefined || chunk.length === 0) return;
      try {
        if (broken === undefined) output.write(name, chunk);
      } catch (error) {
        broken = { error };
        kill({ status: 'killed', reason: 'its output could not be stored' });
      }
    };
    const filter = command.filter?.();
    const silence = filter?.rest && new Silence(() => keep(filter.rest?.() ?? noBytes));
    if (silence) silences.push(silence);
    flushes.push(() => filter && keep(filter.end()));
    const filtered = (chunk: Buffer) => {
      keep(filter?.push(chunk) ?? chunk);
      silence?.begin();
    };
    stream.on('data', (chunk: Buffer) => {
      if (output !== undefined) return filtered(chunk);
      const remaining = limits.output_bytes - printed;
      printed += chunk.length;
      if (pace !== undefined) {
        filtered(chunk);
        if (remaining < chunk.length) pace.count(chunk.length);
        return;
      }
      filtered(chunk.subarray(0, Math.max(remaining, 0)));
      if (chunk.length <= remaining) return;
      kill({ status: 'quota', quota: 'output', limit: limits.output_bytes });
      tree.stdout.destroy();
      tree.stderr.destroy();
    });
    stream.on('error', () => {}); // a reset by the other side is an end
  };
  if (tree.stdin) command.input?.(tree.stdin, tree);
  collect(tree.stdout, stdout, 'stdout');
  collect(tree.stderr, stderr, 'stderr');
  const leave = deps.guard.enter({
    path,
    wrote: () => writtenBy(tree.processes()),
    async kill() {
      kill({ status: 'quota', quota: 'disk', limit: deps.guard.floor });
      await tree.ended.catch(() => {}); // `run` reports the error
    },
  });
  const watching = watch(deps, { tree, path, limits, before: before ?? size, onBreach: kill });
  try {
    const end = await tree.ended;
    for (const silence of silences) silence.stop();
    for (const flush of flushes) flush();
    if (broken !== undefined) throw broken.error;
    // A command ended by SIGKILL has a signal. Without a signal the command ended by itself, before the kill.
    const isOwnEnd = hasBegun && !isAsked && end.status === 'exited' && end.signal === null;
    const isTooLate = isOwnEnd && (cause?.status === 'killed' || cause?.status === 'timed_out');
    const killed = isTooLate ? null : cause;
    const breach = killed ? null : await watching.end(end);
    const how = killed ?? breach ?? judge(end, { limits, elapsed: deps.now() - started, stderr });
    return settle(how, watching.used());
  } finally {
    leave();
    pace?.stop();
    for (const silence of silences) silence.stop();
    watching.stop();
    clearTimeout(timer);
    endGrace();
    signal.removeEventListener('abort', onAbort);
    command.stop?.removeEventListener('abort', onStop);
  }
}

const noBytes = Buffer.alloc(0);

const dropped = ({ bytes }: Capture): CapturedStream => ({ text: '', bytes, truncated: false });

function killedBy(signal: AbortSignal): KillCause {
  return { status: 'killed', reason: signal.reason instanceof Error ? signal.reason.message : String(signal.reason) };
}

function judge(end: TreeEnd, run: { limits: ProcessLimits; elapsed: number; stderr: Capture }): CommandEnd {
  switch (end.status) {
    case 'taken_over':
      return { status: 'killed', reason: 'every process of the workspace was killed', taken_over: true };
    case 'lost':
      return { status: 'killed', reason: 'another process killed the sandbox, or the host ran out of memory' };
    case 'setup_failed':
      throw setupError(end.detail ?? run.stderr.end().text.trim());
    case 'exited':
      break;
    default:
      end satisfies never;
  }
  const { exit_code, signal } = end;
  // CPU time passes at most on all processors at once. An earlier exit code of 152 is the command's own.
  if (signal === 'SIGXCPU' && run.elapsed * availableParallelism() >= run.limits.cpu_seconds * 1000) {
    return { status: 'quota', quota: 'cpu', limit: run.limits.cpu_seconds };
  }
  if (signal === 'SIGXFSZ') return { status: 'quota', quota: 'file_size', limit: run.limits.file_bytes };
  return { status: 'exited', exit_code, signal };
}

/** Throws for source folders without isolation: only bubblewrap mounts folders. */
function checkSourceFolders({ name }: Driver, { workspace }: TreeRequest): void {
  if (name === 'bubblewrap' || (workspace.sourceFolders ?? []).length === 0) return;
  throw new SandboxError(
    'ECOMMANDINVALID',
    `The sandbox driver ${name} cannot show folders of the source (\`with\`).`,
    {
      retryable: false,
      next: 'Use bubblewrap, or submit the run without `with`.',
    },
  );
}

/** Starts a tree. Turns errors from before the first process into `SandboxError`. */
export function startTree(driver: Driver, request: TreeRequest): Tree {
  checkSourceFolders(driver, request);
  try {
    return driver.start(request);
  } catch (error) {
    // e.g. ENOENT of the workspace, E2BIG of the arguments, EMFILE of the worker
    throw error instanceof SandboxError ? error : setupError(error instanceof Error ? error.message : String(error));
  }
}

export function setupError(detail: string): SandboxError {
  if (/^bwrap: Can't chdir to /m.test(detail)) {
    return new SandboxError('ECOMMANDINVALID', `The command cannot enter its working directory: ${detail}`, {
      retryable: false,
      next: 'Create the directory, or name another one.',
    });
  }
  if (detail.includes('E2BIG')) {
    return new SandboxError('ECOMMANDINVALID', 'The arguments together are longer than Linux allows.', {
      retryable: false,
      next: 'Write them to a file, or pass them as stdin.',
    });
  }
  return new SandboxError(
    'ESANDBOXSETUP',
    `The sandbox could not be set up: ${detail || 'it ended without a message'}`,
    {
      retryable: true,
      next: 'Run `holdpoint doctor` on this host if it happens again.',
    },
  );
}
