import { type ChildProcess, spawn } from 'node:child_process';
import { Duplex, type Readable, type Writable } from 'node:stream';
import { closed } from '../process/closed.ts';
import { untilGone } from '../process/gone.ts';
import { childrenOf, identify, killProcess, killProcesses, type ProcessIdentity } from '../process/identity.ts';
import type { ProcessRecords } from '../process/records.ts';
import { signalOfExitCode } from '../signal-name.ts';
import type { Tree, TreeEnd, TreeRequest } from '../tree.ts';
import { type ChainDeps, planChain } from './chain.ts';
import { descriptors } from './descriptors.ts';
import { findOrphans } from './orphans.ts';
import { readStatus } from './status.ts';

export interface LaunchDeps extends ChainDeps {
  records: ProcessRecords;
}

/** Setting up takes about 10 ms. After this long it hangs, e.g. on a dead network mount, and is killed as it is. */
const SETUP_PATIENCE_MS = 2000;

/** Starts one sandbox. */
export function launch(deps: LaunchDeps, request: TreeRequest): Tree {
  const { workspace } = request;
  const chain = planChain(deps, request);
  // node:child_process and not execa 10: its result waits for every stream, and the lifeline may only end after the process did
  const subprocess = spawn(chain.program, chain.args, {
    // only for the programs before bubblewrap, which itself starts without any
    env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' },
    cwd: '/',
    stdio: [request.stdin ? 'pipe' : 'ignore', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe'],
    // its own session: Ctrl-C in the worker's terminal is for the worker, which then decides
    detached: true,
  });
  const { stdin, stdout, stderr, pid } = subprocess;
  const pipes: readonly (Readable | Writable | null | undefined)[] = subprocess.stdio; // typed as five, whatever was asked for
  if (!stdout || !stderr) throw new TypeError('no stdout');
  const failure = new Promise<string>((resolve) => subprocess.once('error', (error) => resolve(error.message)));
  if (pid === undefined) return failedTree({ stdout, stderr }, failure);

  duplex(pipes[descriptors.options]).end(nulTerminated(chain.options));
  duplex(pipes[descriptors.filter]).end(deps.filter ?? Buffer.alloc(0));
  const lifeline = duplex(pipes[descriptors.lifeline]);

  const outer = identify(pid); // null when it has ended already
  let inner: ProcessIdentity | null = null;
  let killed = false;
  let unrecorded: Error | null = null;
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
      deps.records.write(workspace.id, processes);
    } catch (error) {
      unrecorded ??= error instanceof Error ? error : new Error(String(error));
      kill();
    }
  };
  if (outer) record(outer);
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
  const letGo = () => {
    if (ready && inner && !killed) lifeline.write(nulTerminated([...chain.environment, '']));
  };
  lifeline.once('data', () => {
    ready = true;
    letGo();
  });

  const finish = async (): Promise<TreeEnd> => {
    await exited(subprocess);
    clearTimeout(hung);
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
    if (outer && deps.records.remove(workspace.id, outer).killed) return { status: 'taken_over' };
    if (exitCode !== null) return { status: 'exited', exit_code: exitCode, signal: signalOfExitCode(exitCode) };
    // bubblewrap's own failures are exit codes
    return killed || subprocess.signalCode ? { status: 'lost' } : { status: 'setup_failed', detail: null };
  };
  return { stdin, stdout, stderr, kill, ended: finish() };
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
  return { stdin: null, stdout: streams.stdout, stderr: streams.stderr, kill: () => {}, ended };
}
