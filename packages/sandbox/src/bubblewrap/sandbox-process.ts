import type { ChildProcess } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { identify, type ProcessIdentity } from '@holdpoint/process';
import type { Cgroups } from '../cgroup/cgroups.ts';
import {
  childrenOf,
  type FreezeLocks,
  killProcess,
  killProcesses,
  lowerPriority,
  type ProcessRecords,
  preferForOom,
  processesOfNamespace,
  terminateDescendants,
  untilClosed,
  untilGone,
} from '../process/index.ts';
import { signalOfExitCode } from '../signal-name.ts';
import type { TreeEnd, TreeRequest } from '../tree.ts';
import { inheritedFds } from './command-line.ts';
import { receiveListener } from './inside-listener.ts';
import { endOf, type LaunchEvent, type LaunchFailure, type LaunchState, nextState } from './launch-state.ts';
import { findOrphans } from './orphans.ts';
import { duplexOf, type SpawnedChain } from './spawn-chain.ts';
import { readStatus, type Status } from './status.ts';

/** A set-up takes about 10 ms. After this time it hangs, e.g. on a dead network mount, and is killed as it is. */
const setupTimeoutMs = 2000;
/** How often a command of a frozen workspace checks whether it may begin. */
const lockPollMs = 2;

/** What must be known before the command may begin. The events arrive in any order. */
type Condition =
  /** The first process is recorded, so that `killAll` finds the command. */
  | 'first_process'
  /** enter.sh is ready: the death signals are set, so that the sandbox ends with the worker. */
  | 'ready'
  /** The worker serves the sandbox's way to the proxy. */
  | 'listener';

export interface SandboxProcessDeps {
  records: ProcessRecords;
  freezeLocks: FreezeLocks;
  /** Null where this host allows no control groups. */
  cgroups: Cgroups | null;
}

export interface SandboxProcessInput {
  pid: number;
  spawned: SpawnedChain;
  announcement: string;
  /** The answer to enter.sh. */
  command: Buffer;
  request: TreeRequest;
}

/** A sandbox that was spawned, as a state machine (`launch-state.ts`). */
export class SandboxProcess {
  readonly #deps: SandboxProcessDeps;
  readonly #input: SandboxProcessInput;
  readonly #control: Duplex;
  readonly #status: Promise<Status>;
  /** bubblewrap. Null when it has ended already. */
  readonly #bwrap: ProcessIdentity | null;
  readonly #missing: Set<Condition>;
  #state: LaunchState = 'setting_up';
  #failure: LaunchFailure | null = null;
  #firstProcess: ProcessIdentity | null = null;
  #hung: NodeJS.Timeout | undefined;
  #stopServing = () => {};

  constructor(deps: SandboxProcessDeps, input: SandboxProcessInput) {
    const { pid, spawned, announcement, request } = input;
    this.#deps = deps;
    this.#input = input;
    this.#missing = new Set(['first_process', 'ready', ...(request.egress ? (['listener'] as const) : [])]);
    preferForOom(pid);
    if (!deps.cgroups?.limits.cpu) lowerPriority(pid);
    this.#control = duplexOf(spawned.subprocess, inheritedFds.control);
    this.#bwrap = identify(pid);
    if (this.#bwrap) this.#record(this.#bwrap);
    if (!deps.records.withdraw(announcement)) this.#kill({ kind: 'taken_over' });
    this.#status = readStatus(duplexOf(spawned.subprocess, inheritedFds.status), (child) => this.#onChild(child));
    if (request.egress) this.#receiveListener(request.egress);
    this.#control.once('data', (word: Buffer) => this.#onWord(word.toString('latin1')));
  }

  kill(): void {
    this.#kill({ kind: 'killed' });
  }

  terminate(): void {
    if (this.#firstProcess && this.#state === 'running') terminateDescendants(this.#firstProcess);
    else this.kill();
  }

  processes(): number[] {
    return this.#firstProcess ? processesOfNamespace(this.#firstProcess) : [];
  }

  /** Waits for the end of bubblewrap, then removes everything that the sandbox left. */
  async end(): Promise<TreeEnd> {
    const { subprocess, stdout, stderr } = this.#input.spawned;
    await exited(subprocess);
    this.#handle('exit');
    clearTimeout(this.#hung);
    this.#stopServing();
    this.#control.destroy();
    const { exitCode } = await this.#status;
    if (this.#firstProcess) {
      // The command has ended, but its background processes live until the kernel has sent them the death signal.
      killProcess(this.#firstProcess);
      await untilGone([this.#firstProcess]);
    } else {
      // A bubblewrap that was killed from outside during the set-up may leave a process that waits for ever and holds the worker's pipes.
      killProcesses(findOrphans());
    }
    await Promise.all([untilClosed(stdout), untilClosed(stderr)]);
    return endOf({
      failure: this.#failure,
      claim: () => this.#bwrap !== null && this.#records.remove(this.#workspaceId, this.#bwrap).killed,
      exitCode: exitCode === null ? null : { code: exitCode, signal: signalOfExitCode(exitCode) },
      signaled: subprocess.signalCode !== null,
    });
  }

  get #records() {
    return this.#deps.records;
  }

  get #workspaceId(): string {
    return this.#input.request.workspace.id;
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
    this.#control.destroy(); // a command that has not begun never begins
    // Kills the sandbox's first process rather than bubblewrap, which then reports the end and reaps it. During the set-up that process is
    // not known yet. Killing bubblewrap then could leave it behind, waiting for bubblewrap for ever.
    if (this.#firstProcess) killProcess(this.#firstProcess);
    else this.#hung = setTimeout(() => this.#killHungSetup(), setupTimeoutMs);
  }

  #killHungSetup(): void {
    killProcesses([...childrenOf(this.#input.pid), ...(this.#bwrap ? [this.#bwrap] : [])]);
  }

  /** Nothing may run that `killAll` cannot find. */
  #record(...processes: [ProcessIdentity, ...ProcessIdentity[]]): void {
    try {
      this.#records.write(this.#workspaceId, processes, this.#input.request.label);
    } catch (error) {
      this.#kill({ kind: 'unrecorded', error });
    }
  }

  #onChild(pid: number): void {
    const first = identify(pid);
    this.#firstProcess = first;
    if (!first || !this.#bwrap) return;
    if (this.#failure) {
      killProcess(first);
    } else if (!this.#records.has(this.#workspaceId, this.#bwrap)) {
      this.#kill({ kind: 'taken_over' });
    } else {
      this.#record(this.#bwrap, first);
      this.#meet('first_process');
    }
  }

  #receiveListener(egress: NonNullable<TreeRequest['egress']>): void {
    receiveListener(this.#input.spawned.subprocess).then(
      (server) => {
        if (this.#state === 'ended') server.close();
        else this.#stopServing = egress.serve(server);
        this.#meet('listener');
      },
      () => this.#kill({ kind: 'refused', detail: 'the way to the proxy could not be opened' }),
    );
  }

  #onWord(word: string): void {
    if (word === 'ready') this.#meet('ready');
    else this.#kill({ kind: 'refused', detail: 'the control group cannot be entered' });
  }

  #meet(condition: Condition): void {
    this.#missing.delete(condition);
    if (this.#missing.size === 0) this.#begin();
  }

  #begin(): void {
    const { label, onBegun } = this.#input.request;
    // The record with the first process is older than this check, so a worker that takes the lock afterwards finds and freezes the command.
    if (label !== null && this.#deps.freezeLocks.isLocked(this.#workspaceId)) {
      this.#handle('freeze');
      if (this.#state === 'waiting') setTimeout(() => this.#begin(), lockPollMs);
      return;
    }
    if (!this.#firstProcess || !this.#handle('begin')) return;
    // All of them exist by now. Those that started before the first call did not inherit the setting.
    for (const { pid } of [this.#firstProcess, ...childrenOf(this.#firstProcess.pid)]) preferForOom(pid);
    this.#control.write(this.#input.command);
    onBegun?.();
  }
}

function exited(subprocess: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (subprocess.exitCode !== null || subprocess.signalCode !== null) resolve();
    else subprocess.once('exit', () => resolve());
  });
}
