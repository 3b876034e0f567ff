import type { Server } from 'node:net';
import type { SourceFolder } from '@holdpoint/contract';
import { identify, isAlive, type ProcessIdentity } from '@holdpoint/process';
import { SandboxError } from '../errors.ts';
import { childrenOf, killProcess, killProcesses, parentOf, signalOfExitCode } from '../kill.ts';
import * as processes from '../process/index.ts';
import type { TreeEnd, TreeRequest } from '../tree.ts';
import { endOf, type LaunchEvent, type LaunchFailure, type LaunchState, nextState } from './launch-state.ts';
import { findOrphans, misplacedFolder } from './profile.ts';
import type { StartedChain } from './start-chain.ts';
import { followStatus } from './status-lines.ts';

/** A set-up takes about 10 ms. After this time the set-up hangs, e.g. on a dead network mount, and its processes are killed. */
const setupTimeoutMs = 2000;
/** A command of a frozen workspace waits this long between two looks at the lock. */
const lockPollMs = 2;

/** A condition for the command to begin. The starter reports the start, the sandbox the rest, so the events arrive in any order. */
type Condition =
  /** The first process is recorded, so `killAll` finds the command. */
  | 'first_process'
  /** enter.sh is ready: the death signals are set, so the sandbox ends with the worker. */
  | 'ready'
  /** The worker has the socket of the sandbox's way to the proxy. */
  | 'listener'
  /** Nothing of the run or of its command can be started (`seal.ts`). */
  | 'sealed'
  /** A spare has no command yet. */
  | 'command';

export interface SandboxProcessDeps {
  records: processes.ProcessRecords;
  freezeLocks: processes.FreezeLocks;
}

export interface SandboxProcessInput {
  workspaceId: string;
  announcement: string;
  /** The announcement's label; null for a command without one, and for a spare. */
  label: string | null;
  /** Folders to be mounted before anything runs. */
  sourceFolders: readonly SourceFolder[];
  /** Whether the sandbox makes a listening socket for its way to the proxy. */
  listens: boolean;
  /** Seals the sandbox after its set-up: resolves to the reason of a failure, or null. @default no seal */
  seal?: ((first: ProcessIdentity) => Promise<string | null>) | undefined;
}

/** A command for a sandbox. */
export interface Assignment extends Pick<TreeRequest, 'label' | 'egress' | 'onBegun'> {
  /** The answer to enter.sh. */
  command: Buffer;
}

/** A started sandbox, as a state machine (`launch-state.ts`). The sandbox waits for a command. */
export class SandboxProcess {
  readonly #deps: SandboxProcessDeps;
  readonly #input: SandboxProcessInput;
  readonly #chain: StartedChain;
  readonly #missing: Set<Condition>;
  readonly #exit = Promise.withResolvers<{ signaled: boolean }>();
  readonly #settled = Promise.withResolvers<void>();
  readonly #statusClosed = Promise.withResolvers<void>();
  #label: string | null;
  #assignment: Assignment | null = null;
  #state: LaunchState = 'setting_up';
  #failure: LaunchFailure | null = null;
  /** bubblewrap. Null before its start, and when bubblewrap ended before the starter could read its identity. */
  #bwrap: ProcessIdentity | null = null;
  #firstProcess: ProcessIdentity | null = null;
  /** Whether the start is known to have succeeded. */
  #isStarted = false;
  /** Reported by bubblewrap. */
  #exitCode: number | null = null;
  #isStatusClosed = false;
  #hung: NodeJS.Timeout | undefined;
  #isTerminated = false;
  #listener: Server | null = null;
  #isKeptAlive = true;
  #stopServing = () => {};

  constructor(deps: SandboxProcessDeps, input: SandboxProcessInput, chain: StartedChain) {
    this.#deps = deps;
    this.#input = input;
    this.#chain = chain;
    this.#label = input.label;
    this.#missing = new Set(['first_process', 'ready', 'command']);
    if (input.listens) this.#missing.add('listener');
    if (input.seal) this.#missing.add('sealed');
    chain.control.on('error', () => {}); // the sandbox has ended, and its status says how
    followStatus(chain.status, {
      child: (pid) => this.#onChild(pid),
      word: (word) => this.#onWord(word),
      exit: (code) => {
        this.#exitCode = code;
      },
      closed: () => {
        this.#statusClosed.resolve();
        this.#isStatusClosed = true;
        this.#concludeExit();
      },
    });
    chain.start.follow({
      started: (process) => this.#onStarted(process),
      failed: (detail) => this.#onFailed(detail),
      listener: (server) => this.#onListener(server),
      ended: (end) => this.#exit.resolve(end),
      lost: () => this.#onLost(),
    });
  }

  /** Whether the sandbox waits for a command and nothing else. */
  get isSpare(): boolean {
    return this.#state === 'setting_up' && this.#missing.size === 1 && this.#missing.has('command');
  }

  /** Resolves when the set-up is complete, or will not be. */
  get settled(): Promise<void> {
    return this.#settled.promise;
  }

  /** Whether the worker killed the sandbox, terminated its command or lost the sandbox, before the sandbox ended by itself. */
  get wasKilled(): boolean {
    return this.#failure !== null || this.#isTerminated;
  }

  /** Whether a spare still waits undisturbed: not killed, claimed or stopped. */
  isIntact(): boolean {
    const [first, bwrap] = [this.#firstProcess, this.#bwrap];
    if (!this.isSpare || !first || !bwrap || !this.#records.has(this.#workspaceId, bwrap)) return false;
    const [waiting] = childrenOf(first.pid);
    return waiting !== undefined && [bwrap, first, waiting].every(processes.isUndisturbed);
  }

  /** Gives the sandbox its command. Call `assign` once. */
  assign(assignment: Assignment): void {
    this.#assignment = assignment;
    if (assignment.label !== this.#label) {
      this.#label = assignment.label;
      const [bwrap, first] = [this.#bwrap, this.#firstProcess];
      if (bwrap && first && this.#state === 'setting_up') {
        this.#record((id) => this.#records.update(id, [bwrap, first], this.#label));
      }
    }
    this.#meet('command');
  }

  /** Whether the sandbox keeps the worker's event loop alive. @default true */
  keepAlive(yes: boolean): void {
    const { start, stdout, stderr, status, control } = this.#chain;
    this.#isKeptAlive = yes;
    start.keepAlive(yes);
    for (const one of [stdout, stderr, status, control, this.#listener]) yes ? one?.ref() : one?.unref();
  }

  kill(): void {
    this.#kill({ kind: 'killed' });
  }

  terminate(): boolean {
    this.#isTerminated = true;
    if (this.#firstProcess && this.#state === 'running') return processes.terminateDescendants(this.#firstProcess);
    const isOver = this.#state === 'killed' || this.#state === 'ended';
    this.kill();
    return !isOver;
  }

  get isAlive(): boolean {
    return this.#firstProcess === null || isAlive(this.#firstProcess);
  }

  processes(): number[] {
    return this.#firstProcess ? processes.processesOfNamespace(this.#firstProcess) : [];
  }

  /** Waits for the end of the sandbox, then removes its remains. */
  async end(): Promise<TreeEnd> {
    const { signaled } = await this.#exit.promise;
    const { stdin, stdout, stderr, control } = this.#chain;
    this.#handle('exit');
    this.#settled.resolve();
    clearTimeout(this.#hung);
    this.#stopServing();
    this.#listener?.close();
    // With an exit code bubblewrap has waited for the first process. The kernel lets the first process end after all others.
    if (this.#exitCode === null) {
      const known = [this.#firstProcess, this.#bwrap].filter((one) => one !== null);
      killProcesses(known);
      await processes.untilGone(known);
    }
    if (!this.#firstProcess) {
      // A bubblewrap killed from outside during the set-up may leave a process behind, waiting for ever and holding the worker's pipes.
      killProcesses(findOrphans());
    }
    for (const stream of [stdin, control]) stream?.destroy();
    // The starter may have reported the end before the worker read the exit code.
    await Promise.all([this.#statusClosed.promise, processes.untilClosed(stdout), processes.untilClosed(stderr)]);
    const exitCode = this.#exitCode;
    return endOf({
      failure: this.#failure,
      claim: () => this.#bwrap !== null && this.#records.remove(this.#workspaceId, this.#bwrap).killed,
      exitCode: exitCode === null ? null : { code: exitCode, signal: signalOfExitCode(exitCode) },
      signaled,
    });
  }

  get #records() {
    return this.#deps.records;
  }

  get #workspaceId(): string {
    return this.#input.workspaceId;
  }

  /** False when the state ignores the event. */
  #handle(event: LaunchEvent): boolean {
    const next = nextState(this.#state, event);
    this.#state = next ?? this.#state;
    return next !== null;
  }

  #kill(failure: LaunchFailure): void {
    if (!this.#handle('kill')) return;
    this.#failure = failure;
    this.#settled.resolve();
    this.#chain.control.destroy(); // a command still waiting never begins
    // Kills the sandbox's first process: bubblewrap then reports the end and reaps the process. During the set-up the first process is not
    // known yet. Killing bubblewrap then could leave the first process behind, waiting for bubblewrap for ever.
    if (this.#firstProcess) killProcess(this.#firstProcess);
    else this.#hung = setTimeout(() => this.#killHungSetup(), setupTimeoutMs);
  }

  #killHungSetup(): void {
    if (this.#bwrap) killProcesses([...childrenOf(this.#bwrap.pid), this.#bwrap]);
  }

  /**
   * `killAll` must find every running process.
   * @param write false when `killAll` came first
   */
  #record(write: (workspaceId: string) => boolean): void {
    try {
      if (!write(this.#workspaceId)) this.#kill({ kind: 'taken_over' });
    } catch (error) {
      this.#kill({ kind: 'unrecorded', error });
    }
  }

  #onStarted(process: ProcessIdentity | null): void {
    this.#bwrap = process;
    this.#isStarted = true;
    const { announcement } = this.#input;
    this.#record((id) =>
      process
        ? this.#records.write(id, { first: process, label: this.#label, announcement, waits: this.#label !== null })
        : this.#records.withdraw(announcement),
    );
    this.#adoptFirst();
    this.#concludeExit();
  }

  /**
   * Once bubblewrap has reported the exit code and closed its files, no process of the sandbox runs. The worker sees both events before the
   * starter reports the end.
   */
  #concludeExit(): void {
    if (this.#exitCode !== null && this.#isStatusClosed && this.#isStarted) {
      this.#exit.resolve({ signaled: false });
    }
  }

  #onFailed(detail: string): void {
    this.#records.withdraw(this.#input.announcement);
    this.#failure ??= { kind: 'refused', detail };
    this.#exit.resolve({ signaled: false });
  }

  #onLost(): void {
    this.#records.withdraw(this.#input.announcement);
    this.#failure ??= { kind: 'unstarted', error: starterLost(this.#state === 'running') };
    this.#exit.resolve({ signaled: true });
  }

  #onChild(pid: number): void {
    this.#firstProcess = identify(pid);
    this.#adoptFirst();
  }

  /** When both processes are known. */
  #adoptFirst(): void {
    if (!this.#firstProcess || !this.#bwrap) return;
    if (parentOf(this.#firstProcess.pid) !== this.#bwrap.pid) {
      this.#firstProcess = null; // The first process ended while the worker was stopped, and its pid may be another process's.
      return;
    }
    if (this.#failure) {
      killProcess(this.#firstProcess);
      return;
    }
    const both = [this.#bwrap, this.#firstProcess] as const;
    this.#record((id) => this.#records.update(id, both, this.#label));
    this.#meet('first_process');
  }

  #onListener(server: Server | null): void {
    if (server === null) {
      this.#kill({ kind: 'refused', detail: 'the way to the proxy could not be opened' });
    } else if (this.#state === 'ended') {
      server.close();
    } else {
      this.#listener = server;
      if (!this.#isKeptAlive) server.unref();
      this.#meet('listener');
    }
  }

  #onWord(word: string): void {
    if (word === 'ready') this.#meet('ready');
    else this.#kill({ kind: 'refused', detail: 'the control group cannot be entered' });
  }

  #meet(condition: Condition): void {
    this.#missing.delete(condition);
    if (condition === 'first_process' || condition === 'ready') this.#seal();
    if (this.isSpare || this.#missing.size === 0) this.#settled.resolve();
    if (this.#missing.size === 0) this.#begin();
  }

  /** When all mounts are made. */
  #seal(): void {
    const first = this.#firstProcess;
    if (!this.#input.seal || !first || this.#missing.has('first_process') || this.#missing.has('ready')) return;
    this.#input.seal(first).then(
      (detail) => (detail === null ? this.#meet('sealed') : this.#kill({ kind: 'refused', detail })),
      (error: unknown) => this.#kill({ kind: 'unrecorded', error }),
    );
  }

  #begin(): void {
    const assignment = this.#assignment;
    const bwrap = this.#bwrap;
    // This record is older than the check of the lock, so a worker taking the lock afterwards finds and freezes the command.
    if (this.#label !== null && bwrap && this.#state === 'setting_up')
      this.#record((id) => this.#records.begin(id, bwrap));
    if (this.#label !== null && this.#deps.freezeLocks.isLocked(this.#workspaceId)) {
      this.#handle('freeze');
      if (this.#state === 'waiting') setTimeout(() => this.#begin(), lockPollMs);
      return;
    }
    if (!this.#firstProcess || !assignment) return;
    const misplaced = misplacedFolder(this.#firstProcess.pid, this.#input.sourceFolders);
    if (misplaced !== null) this.#kill({ kind: 'refused', detail: misplaced });
    if (!this.#handle('begin')) return;
    if (this.#listener && assignment.egress) {
      this.#stopServing = assignment.egress.serve(this.#listener);
      this.#listener = null;
    }
    // All these processes exist by now. Children started before the first call did not inherit the setting.
    for (const { pid } of [this.#firstProcess, ...childrenOf(this.#firstProcess.pid)]) processes.preferForOom(pid);
    this.#chain.control.end(assignment.command);
    assignment.onBegun?.();
  }
}

function starterLost(hasBegun: boolean): SandboxError {
  const what = hasBegun ? 'The command was killed with it.' : 'The command did not begin.';
  return new SandboxError('ESTARTERLOST', `The process that starts sandboxes has ended. ${what}`, {
    retryable: true,
    next: 'Repeat the attempt from the snapshot before it. Look for who killed the process, or whether the host ran out of memory.',
  });
}
