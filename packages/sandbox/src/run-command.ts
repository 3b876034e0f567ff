import { availableParallelism } from 'node:os';
import type { Readable } from 'node:stream';
import type { CapabilityReport } from '@holdpoint/contract';
import { Capture } from './capture.ts';
import { checkCommand } from './check-command.ts';
import type { SpaceGuard } from './disk-space/space-guard.ts';
import { writtenBy } from './disk-space/written.ts';
import { SandboxError } from './errors.ts';
import { resolveLimits } from './limits.ts';
import type { Command, CommandEnd, CommandResult, Limits } from './port.ts';
import type { Driver, Tree, TreeEnd, TreeRequest } from './tree.ts';
import { sizeBefore, watch } from './watch.ts';
import type { WorkspaceSizes } from './workspace-size/sizes.ts';

export interface RunDeps {
  driver: Driver;
  capabilities: CapabilityReport;
  limits: Partial<Limits> | undefined;
  sizes: WorkspaceSizes;
  guard: SpaceGuard;
  /** Aborts when the sandbox is disposed. */
  closing: AbortSignal;
  /** Milliseconds of a clock that only goes forward. */
  now(): number;
}

/** A program that was asked to end and cleans up takes less; who waits for the end of it does not notice. */
const PATIENCE_MS = 150;

/** Why we killed the tree; the first reason counts. */
type Cut = Exclude<CommandEnd, { status: 'exited' }>;

/** A driver that cannot hold an allowlist must not pretend to: with another one the command would be shut in, or wide open. */
function checkEgress({ name }: Driver, { egress }: Command): void {
  if (egress === undefined || name === 'bubblewrap') return;
  throw new SandboxError('ECOMMANDINVALID', `The sandbox driver ${name} cannot hold a network allowlist.`, {
    retryable: false,
    next: 'Use bubblewrap, or submit the run without a network.',
  });
}

export async function runCommand(deps: RunDeps, command: Command): Promise<CommandResult> {
  const cwd = checkCommand(command);
  checkEgress(deps.driver, command);
  const limits = resolveLimits(deps.limits, command.limits);
  const { path } = command.workspace;
  const before = await sizeBefore(deps, { path, limits });
  const { output } = command;
  const stdout = new Capture();
  const stderr = new Capture();
  let broken: { error: unknown } | undefined;
  const started = deps.now();
  const settle = (end: CommandEnd): CommandResult => ({
    end,
    stdout: output === undefined ? stdout.end() : { text: '', bytes: stdout.bytes, truncated: false },
    stderr: output === undefined ? stderr.end() : { text: '', bytes: stderr.bytes, truncated: false },
    duration_ms: Math.round(deps.now() - started),
    capabilities: deps.capabilities,
  });
  const signal = AbortSignal.any([command.signal, deps.closing]);
  const aborted = [signal, command.stop].find((one) => one?.aborted);
  if (aborted) return settle(killedBy(aborted));

  const tree = startTree(deps.driver, {
    workspace: command.workspace,
    label: command.label ?? null,
    argv: command.argv,
    cwd,
    env: command.env ?? {},
    egress: command.egress ?? null,
    limits,
    stdin: command.stdin ?? null,
    toolHost: false,
    ...(command.onBegun && { onBegun: command.onBegun }),
  });
  let cut = null as Cut | null;
  const kill = (reason: Cut) => {
    cut ??= reason;
    tree.kill();
  };
  const onAbort = () => kill(killedBy(signal));
  signal.addEventListener('abort', onAbort, { once: true });
  let patience: NodeJS.Timeout | undefined;
  const onStop = () => {
    if (cut !== null || command.stop === undefined) return;
    cut = killedBy(command.stop);
    tree.terminate();
    patience = setTimeout(() => tree.kill(), PATIENCE_MS);
  };
  command.stop?.addEventListener('abort', onStop, { once: true });
  const timer = setTimeout(() => kill({ status: 'timed_out', after_ms: limits.wall_ms }), limits.wall_ms);
  const collect = (stream: Readable, capture: Capture, name: 'stdout' | 'stderr') => {
    stream.on('data', (chunk: Buffer) => {
      if (output !== undefined) {
        capture.push(chunk); // its end may say why the sandbox could not be set up
        try {
          if (broken === undefined) output.write(name, chunk);
        } catch (error) {
          broken = { error };
          kill({ status: 'killed', reason: 'its output could not be kept' });
        }
        return;
      }
      const room = limits.output_bytes - stdout.bytes - stderr.bytes;
      capture.push(chunk.subarray(0, Math.max(room, 0)));
      if (chunk.length <= room) return;
      kill({ status: 'quota', quota: 'output', limit: limits.output_bytes });
      tree.stdout.destroy();
      tree.stderr.destroy();
    });
    stream.on('error', () => {}); // a reset by the end of the other side is an end
  };
  collect(tree.stdout, stdout, 'stdout');
  collect(tree.stderr, stderr, 'stderr');
  const leave = deps.guard.enter({
    path,
    wrote: () => writtenBy(tree.processes()),
    async kill() {
      kill({ status: 'quota', quota: 'disk', limit: deps.guard.floor });
      await tree.ended.catch(() => {}); // reported where the command is waited for
    },
  });
  const watching = watch(deps, { tree, path, limits, before, onBreach: kill });
  try {
    const end = await tree.ended;
    if (broken !== undefined) throw broken.error;
    const breach = cut ? null : await watching.end(end);
    return settle(cut ?? breach ?? judge(end, { limits, elapsed: deps.now() - started, stderr }));
  } finally {
    leave();
    watching.stop();
    clearTimeout(timer);
    clearTimeout(patience);
    signal.removeEventListener('abort', onAbort);
    command.stop?.removeEventListener('abort', onStop);
  }
}

function killedBy(signal: AbortSignal): Cut {
  return { status: 'killed', reason: signal.reason instanceof Error ? signal.reason.message : String(signal.reason) };
}

function judge(end: TreeEnd, run: { limits: Limits; elapsed: number; stderr: Capture }): CommandEnd {
  switch (end.status) {
    case 'taken_over':
      return { status: 'killed', reason: 'every process of the workspace was killed', taken_over: true };
    case 'lost':
      return { status: 'killed', reason: 'the sandbox was killed by somebody else, or for want of memory' };
    case 'setup_failed':
      throw setupError(end.detail ?? run.stderr.end().text.trim());
    case 'exited':
      break;
    default:
      end satisfies never;
  }
  const { exit_code, signal } = end;
  // No CPU second passes faster than on all processors at once; an earlier 152 was the command's own choice.
  if (signal === 'SIGXCPU' && run.elapsed * availableParallelism() >= run.limits.cpu_seconds * 1000) {
    return { status: 'quota', quota: 'cpu', limit: run.limits.cpu_seconds };
  }
  if (signal === 'SIGXFSZ') return { status: 'quota', quota: 'file_size', limit: run.limits.file_bytes };
  return { status: 'exited', exit_code, signal };
}

/** As the driver's, but what goes wrong before a process exists is a `SandboxError` too. */
export function startTree(driver: Driver, request: TreeRequest): Tree {
  try {
    return driver.start(request);
  } catch (error) {
    // e.g. ENOENT of the workspace, E2BIG of the arguments, EMFILE of the worker
    throw error instanceof SandboxError ? error : setupError(error instanceof Error ? error.message : String(error));
  }
}

export function setupError(detail: string): SandboxError {
  if (/^bwrap: Can't chdir to /m.test(detail)) {
    return new SandboxError('ECOMMANDINVALID', `The working directory cannot be entered: ${detail}`, {
      retryable: false,
      next: 'Create it, or name another one.',
    });
  }
  if (detail.includes('E2BIG')) {
    return new SandboxError('ECOMMANDINVALID', 'The arguments are longer together than Linux passes on.', {
      retryable: false,
      next: 'Write them to a file, or pass them as stdin.',
    });
  }
  return new SandboxError('ESANDBOXSETUP', `The sandbox could not be set up: ${detail || 'it ended without a word'}`, {
    retryable: true,
    next: 'Run `holdpoint doctor` on this host when it happens again.',
  });
}
