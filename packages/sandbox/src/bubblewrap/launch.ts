import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { Duplex, type Readable, type Writable } from 'node:stream';
import { identify, type ProcessIdentity } from '@holdpoint/process';
import type { Cgroups } from '../cgroup/cgroups.ts';
import type { CommandGroup } from '../cgroup/command-group.ts';
import { closed } from '../process/closed.ts';
import { untilGone } from '../process/gone.ts';
import type { Holds } from '../process/holds.ts';
import { childrenOf, killProcess, killProcesses } from '../process/kill.ts';
import { processesOfNamespace } from '../process/namespace.ts';
import type { PipePool } from '../process/pipe-pool.ts';
import type { ProcessRecords } from '../process/records.ts';
import { terminateBelow } from '../process/standstill.ts';
import { signalOfExitCode } from '../signal-name.ts';
import type { Tree, TreeEnd, TreeRequest } from '../tree.ts';
import { type Chain, type ChainDeps, planChain } from './chain.ts';
import { descriptors } from './descriptors.ts';
import { receiveListener } from './inside-listener.ts';
import { findOrphans } from './orphans.ts';
import { readStatus } from './status.ts';

export interface LaunchDeps extends Omit<ChainDeps, 'held' | 'doors'> {
  records: ProcessRecords;
  holds: Holds;
  pipes: PipePool;
  /** Null where there are none. */
  cgroups: Cgroups | null;
}

/** Setting up takes about 10 ms. After this long it hangs, e.g. on a dead network mount, and is killed as it is. */
const SETUP_PATIENCE_MS = 2000;
/** How often a command that may not begin yet looks again. */
const HELD_LOOK_MS = 2;

/** Starts one sandbox. */
export function launch(deps: LaunchDeps, request: TreeRequest): Tree {
  const { workspace } = request;
  deps.tools.seal.check();
  const chain = planChain({ ...deps, held: deps.cgroups?.held ?? null, doors: deps.cgroups?.doors ?? 0 }, request);
  const { started, announcement } = deps.records.announced(request, () => {
    const group = deps.cgroups?.make(request.limits, workspace.id) ?? null;
    const remove = () => {
      if (group) deps.cgroups?.remove(group);
    };
    return { group, remove, ...startChain(deps, { chain, request, group, onFailure: remove }) };
  });
  const { group, remove, subprocess, stdin, stdout, stderr } = started;
  const { pid } = subprocess;
  const pipes: readonly (Readable | Writable | null | undefined)[] = subprocess.stdio; // typed as five, whatever was asked for
  const failure = new Promise<string>((resolve) => subprocess.once('error', (error) => resolve(error.message)));
  if (pid === undefined) {
    remove();
    deps.records.withdraw(announcement);
    return failedTree({ stdout, stderr }, failure);
  }

  preferForOom(pid);
  if (!deps.cgroups?.held.cpu) yieldProcessors(pid);
  const lifeline = duplex(pipes[descriptors.lifeline]);

  const outer = identify(pid); // null when it has ended already
  let inner: ProcessIdentity | null = null;
  let killed = false;
  let unrecorded: Error | null = null;
  let refusal: string | null = null;
  let hung: NodeJS.Timeout | undefined;
  const kill = () => {
    if (killed) return;
    killed = true;
    lifeline.destroy(); // a command that has not started will not
    // The sandbox's first process rather than bubblewrap itself, which then reports the end and reaps it. While it is being set up it is
    // not known yet; killing bubblewrap then could leave it behind, waiting for a word from bubblewrap for ever.
    if (inner) killProcess(inner);
    else hung = setTimeout(() => killProcesses([...childrenOf(pid), ...(outer ? [outer] : [])]), SETUP_PATIENCE_MS);
  };
  /** Nothing may run that `killAll` could not find. */
  const record = (...processes: [ProcessIdentity, ...ProcessIdentity[]]) => {
    try {
      deps.records.write(workspace.id, processes, request.label);
    } catch (error) {
      unrecorded ??= error instanceof Error ? error : new Error(String(error));
      kill();
    }
  };
  if (outer) record(outer);
  const overtaken = !deps.records.withdraw(announcement);
  if (overtaken) kill();
  const status = readStatus(duplex(pipes[descriptors.status]), (childPid) => {
    inner = identify(childPid);
    if (!inner || !outer) return;
    const claimed = unrecorded === null && !deps.records.has(workspace.id, outer);
    if (claimed || killed) killProcess(inner);
    else record(outer, inner);
    letGo();
  });
  // Both must be known before the command may start: that it can be found and killed, and that its sandbox would end with us.
  let ready = false;
  let served = request.egress === null;
  let release = () => {};
  let over = false;
  if (request.egress) {
    receiveListener(subprocess).then(
      (server) => {
        if (over) server.close();
        else release = request.egress?.serve(server) ?? release;
        served = true;
        letGo();
      },
      () => {
        if (!killed && !over) refusal ??= 'the way to the proxy could not be opened';
        kill();
      },
    );
  }
  let begun = false;
  const letGo = () => {
    if (!ready || !served || !inner || killed || over || begun) return;
    // the record, with its first process inside, is older than this look: who holds after it finds the command and stops it
    if (request.label !== null && deps.holds.isHeld(workspace.id)) {
      setTimeout(letGo, HELD_LOOK_MS);
      return;
    }
    begun = true;
    // by now they all exist: those that were started before the first writing did not inherit it
    for (const one of [inner, ...childrenOf(inner.pid)]) preferForOom(one.pid);
    lifeline.write(chain.command);
    request.onBegun?.();
  };
  lifeline.once('data', (word: Buffer) => {
    if (word.toString('latin1') === 'ready') ready = true;
    else refusal = 'the control group cannot be entered';
    if (refusal) kill();
    letGo();
  });

  const finish = async (): Promise<TreeEnd> => {
    await exited(subprocess);
    clearTimeout(hung);
    over = true;
    release();
    lifeline.destroy();
    const { exitCode } = await status;
    if (inner) {
      // the command has ended, but what it left in the background lives until the kernel has sent it the death signal
      killProcess(inner);
      await untilGone([inner]);
    } else {
      // killed by somebody else at the worst moment, it leaves a process that waits for ever with our pipes in its hands
      killProcesses(findOrphans());
    }
    await Promise.all([closed(stdout), closed(stderr)]);
    if (unrecorded) throw unrecorded;
    const taken = outer !== null && deps.records.remove(workspace.id, outer).killed;
    if (taken || overtaken) return { status: 'taken_over' };
    if (refusal) return { status: 'setup_failed', detail: refusal };
    if (exitCode !== null) return { status: 'exited', exit_code: exitCode, signal: signalOfExitCode(exitCode) };
    // bubblewrap's own failures are exit codes
    return killed || subprocess.signalCode ? { status: 'lost' } : { status: 'setup_failed', detail: null };
  };
  let total: ReturnType<CommandGroup['usage']> | null = null;
  const ended = finish().finally(() => {
    total = group?.usage() ?? null;
    remove();
  });
  return {
    ...{ stdin, stdout, stderr, kill, ended },
    terminate: () => (inner && begun ? terminateBelow(inner) : kill()),
    usage: () => total ?? group?.usage() ?? null,
    processes: () => group?.processes() ?? (inner ? processesOfNamespace(inner) : []),
  };
}

interface Started {
  subprocess: ChildProcess;
  stdin: Writable | null;
  stdout: Readable;
  stderr: Readable;
}

/** Node's own child process and not execa 10: its result waits for every stream, and the lifeline may only end after the process did. */
function startChain(
  { pipes, filter }: LaunchDeps,
  start: { chain: Chain; request: TreeRequest; group: CommandGroup | null; onFailure(): void },
): Started {
  const { chain, request, group } = start;
  // a tool host speaks to us alone, and sockets are what Node makes
  const stdout = request.toolHost ? null : pipes.output();
  const stderr = request.toolHost ? null : pipes.output();
  const passed = [stdout, stderr].flatMap((pipe) => (pipe ? [pipe.descriptor] : []));
  try {
    const input = request.stdin === null ? null : pipes.filled(Buffer.from(request.stdin));
    if (input !== null) passed.push(input);
    const doors = group?.openDoors() ?? [];
    passed.push(...doors);
    const options = pipes.filled(nulTerminated(chain.options));
    passed.push(options);
    const program = filter && pipes.filled(filter);
    if (program !== null) passed.push(program);
    const stdio: (number | 'pipe' | 'ignore' | 'ipc')[] = [
      request.toolHost ? 'pipe' : 'ignore',
      stdout?.descriptor ?? 'pipe',
      stderr?.descriptor ?? 'pipe',
      ...[options, program ?? ('ignore' as const), 'pipe' as const, input ?? ('ignore' as const), 'pipe' as const],
      ...doors,
      ...(request.egress ? ['ipc' as const] : []),
    ];
    const subprocess: ChildProcess = spawn(chain.program, chain.args, {
      ...{ ...chain.start, stdio },
      cwd: '/',
      // its own session: Ctrl-C in the worker's terminal is for the worker, which then decides
      detached: true,
    });
    const out = stdout?.stream ?? subprocess.stdout;
    const err = stderr?.stream ?? subprocess.stderr;
    if (!out || !err) throw new TypeError('no stdout');
    return { subprocess, stdin: subprocess.stdin, stdout: out, stderr: err };
  } catch (error) {
    for (const pipe of [stdout, stderr]) pipe?.stream.destroy();
    start.onFailure();
    throw error;
  } finally {
    for (const descriptor of passed) closeSync(descriptor);
  }
}

/** When memory runs out on the host, the kernel ends sandboxed programs before anything else. All that it starts inherits this. */
function preferForOom(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, '500');
  } catch {
    // it has ended, or is not ours to change any more; only a preference
  }
}

/**
 * Without control groups only a priority keeps the worker ahead of what it runs: 512 busy processes leave it a fifth of a processor, and at
 * the usual priority a five-hundredth. All that the command starts inherits it.
 */
function yieldProcessors(pid: number): void {
  try {
    setPriority(pid, 19);
  } catch {
    // it has ended, or is not ours to change any more; only a preference
  }
}

function nulTerminated(words: readonly string[]): Buffer {
  return Buffer.from(words.map((word) => `${word}\0`).join(''));
}

/** The reader may end first (it was killed, or could not start); what it did not read is of no interest then. */
function duplex(stream: Readable | Writable | null | undefined): Duplex {
  if (!(stream instanceof Duplex)) throw new TypeError('not a pipe'); // Node's pipes are sockets, which go both ways
  stream.on('error', () => {});
  return stream;
}

function exited(subprocess: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (subprocess.exitCode !== null || subprocess.signalCode !== null) resolve();
    else subprocess.once('exit', () => resolve());
  });
}

/** The operating system refused to start even the first program: argument list too long, no more processes. */
function failedTree(streams: Pick<Tree, 'stdout' | 'stderr'>, message: Promise<string>): Tree {
  const ended = message.then((detail): TreeEnd => ({ status: 'setup_failed', detail }));
  const rest = { usage: () => null, processes: () => [], terminate: () => {}, kill: () => {} };
  return { stdin: null, stdout: streams.stdout, stderr: streams.stderr, ...rest, ended };
}
