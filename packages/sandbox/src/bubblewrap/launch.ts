import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { SandboxError } from '../errors.ts';
import { closed } from '../process/closed.ts';
import { untilGone } from '../process/gone.ts';
import { childrenOf, identify, killProcess, killProcesses, type ProcessIdentity } from '../process/identity.ts';
import type { ProcessRecords } from '../process/records.ts';
import { signalOfExitCode } from '../signal-name.ts';
import type { Tree, TreeEnd, TreeRequest } from '../tree.ts';
import { ARGUMENTS, BWRAP_ARGUMENTS } from './command-line.ts';
import type { Equipment } from './equipment.ts';
import { findOrphans } from './orphans.ts';
import type { HostTools } from './host-tools.ts';
import { profile } from './profile.ts';
import { readStatus } from './status.ts';
import { planView, type View } from './view.ts';

const launchScript = readFileSync(new URL('launch.sh', import.meta.url), 'utf8');
const viewScript = readFileSync(new URL('view.sh', import.meta.url), 'utf8');

/** Descriptors of bubblewrap beyond stdio and its arguments. */
const SECCOMP = 4;
const STATUS = 5;
const LIFELINE = 6;

/** Setting up takes about 10 ms. After this long it hangs, e.g. on a dead network mount, and is killed as it is. */
const SETUP_PATIENCE_MS = 2000;

export interface LaunchDeps {
  tools: HostTools;
  equipment: Equipment;
  filter: Buffer | null;
  tmpBytes: number;
  /** Whether the worker is root, so that the sandbox must run as the workspace's owner. */
  root: boolean;
  records: ProcessRecords;
}

/**
 * Starts one sandbox: [unshare, view.sh,] setpriv (uid, death signal) → launch.sh (descriptors, environment) → bwrap → enter.sh (limits)
 * → the command, each becoming the next, so that the worker stays the parent and bubblewrap's death signal comes from it.
 */
export function launch(deps: LaunchDeps, request: TreeRequest): Tree {
  const { workspace, limits } = request;
  const owner = { uid: workspace.uid, gid: workspace.gid };
  const mounts = [...deps.equipment.command, ...(request.toolHost ? deps.equipment.toolHost : [])];
  const view = deps.root
    ? planView([workspace.path, deps.tools.bwrap, ...mounts.map(({ host }) => host)], owner)
    : null;
  const hostPath = (path: string) => view?.hostPath(path) ?? path;

  const bwrapOptions = [
    ...profile({ ...deps, seccompDescriptor: deps.filter ? SECCOMP : null, hostPath }, request),
    ...['--json-status-fd', String(STATUS)],
  ];
  const enter = [
    ...[LIFELINE, deps.filter ? 2 : 0],
    ...[
      limits.processes,
      Math.ceil(limits.file_bytes / 1024),
      limits.open_files,
      Math.ceil(limits.memory_bytes / 1024),
      limits.cpu_seconds,
    ],
  ].map(String);
  const bwrap = [hostPath(deps.tools.bwrap), ...BWRAP_ARGUMENTS, ...enter, ...request.argv];
  const dropped = [
    deps.tools.setpriv,
    // the uid goes before bubblewrap starts: with the host's uid 0 it would act as root on every file it can see
    ...(deps.root ? [`--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups'] : []),
    ...['--pdeathsig', 'KILL', '--', deps.tools.bash, '-p', '-c', launchScript, 'holdpoint'],
    ...[process.pid, LIFELINE, request.toolHost ? 'direct' : request.stdin ? 'stdin' : 'output'].map(String),
    ...bwrap,
  ];
  const [program = '', ...args] = view ? showFirst(deps.tools, view, dropped) : dropped;

  // node:child_process and not execa 10: its result waits for every stream, and the lifeline may only end after the process did
  const subprocess = spawn(program, args, {
    // only for the programs before bubblewrap, which itself starts without any
    env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' },
    cwd: '/',
    stdio: [request.stdin ? 'pipe' : 'ignore', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe'],
    // its own session: Ctrl-C in the worker's terminal is for the worker, which then decides
    detached: true,
  });
  const { stdin, stdout, stderr } = subprocess;
  const descriptors: readonly (Readable | Writable | null | undefined)[] = subprocess.stdio; // typed as five, whatever was asked for
  if (!stdout || !stderr) throw new TypeError('no stdout');
  const failure = new Promise<string>((resolve) => subprocess.once('error', (error) => resolve(error.message)));
  const { pid } = subprocess;
  if (pid === undefined) return failedTree({ stdout, stderr }, failure);

  feed(descriptors[ARGUMENTS], nulTerminated(bwrapOptions)).end();
  feed(descriptors[SECCOMP], deps.filter ?? Buffer.alloc(0)).end();
  // an empty record ends the environment; the descriptor stays open, so that its end tells the sandbox of the worker's
  const lifeline = feed(descriptors[LIFELINE], nulTerminated([...environment(deps.equipment, request.env), '']));

  const outer = identify(pid);
  if (outer) deps.records.write(workspace.id, [outer]);
  let inner: ProcessIdentity | null = null;
  let killed = false;
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
  const status = readStatus(readable(descriptors[STATUS]), (childPid) => {
    inner = identify(childPid);
    if (!inner || !outer) return;
    const claimed = !deps.records.has(workspace.id, outer);
    if (!claimed) deps.records.write(workspace.id, [outer, inner]);
    if (claimed || killed) killProcess(inner);
  });

  const finish = async (): Promise<TreeEnd> => {
    await exited(subprocess);
    clearTimeout(hung);
    lifeline.destroy();
    const { exitCode } = await status;
    // killed by somebody else at the worst moment, it leaves a process that waits for ever with our pipes in its hands
    if (!inner) killProcesses(findOrphans());
    if (inner) {
      // the command has ended, but what it left in the background lives until the kernel has sent it the death signal
      killProcess(inner);
      await untilGone([inner]);
    }
    await Promise.all([closed(stdout), closed(stderr)]);
    const takenOver = outer !== null && deps.records.remove(workspace.id, outer).killed;
    if (takenOver) return { status: 'taken_over' };
    if (exitCode === null)
      return killed
        ? { status: 'exited', exit_code: 137, signal: 'SIGKILL' }
        : { status: 'setup_failed', detail: null };
    return { status: 'exited', exit_code: exitCode, signal: signalOfExitCode(exitCode) };
  };
  return { stdin, stdout, stderr, kill, ended: finish() };
}

function showFirst(tools: HostTools, view: View, command: readonly string[]): string[] {
  if (!tools.unshare) {
    throw new SandboxError('ESANDBOXMISSING', `${view.sources.join(', ')} cannot be reached by the workspace's uid.`, {
      retryable: false,
      next: 'Install `unshare` (package `util-linux`), or move the data directory and the project out of closed directories.',
    });
  }
  return [
    ...[tools.unshare, '--mount', '--propagation', 'private', '--', tools.bash, '-p', '-c', viewScript, 'holdpoint'],
    ...[view.mountPoint, ...view.sources, '--', ...command],
  ];
}

function environment(equipment: Equipment, env: Readonly<Record<string, string>>): string[] {
  const base = {
    PATH: [...equipment.path, '/usr/local/bin', '/usr/bin', '/bin'].join(':'),
    HOME: '/tmp',
    LANG: 'C.UTF-8',
    TMPDIR: '/tmp',
  };
  return Object.entries({ ...base, ...env }).map(([name, value]) => `${name}=${value}`);
}

function nulTerminated(words: readonly string[]): Buffer {
  return Buffer.from(words.map((word) => `${word}\0`).join(''));
}

/** The reader may end first (it was killed, or could not start); what it did not read is of no interest then. */
function feed(stream: Readable | Writable | null | undefined, data: Buffer): Writable {
  if (!stream || !('write' in stream)) throw new TypeError('not a writable descriptor');
  stream.on('error', () => {});
  stream.write(data);
  return stream;
}

function readable(stream: Readable | Writable | null | undefined): Readable {
  if (!stream || !('read' in stream)) throw new TypeError('not a readable descriptor');
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
  return { stdin: null, stdout: streams.stdout, stderr: streams.stderr, kill: () => {}, ended };
}
