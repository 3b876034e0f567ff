import type { TreeEnd } from '../tree.ts';

/** State of a sandbox between its start and its end. */
export type LaunchState =
  /** bubblewrap and enter.sh set up the sandbox. */
  | 'setting_up'
  /** The set-up is complete. The command waits because its workspace is frozen. */
  | 'waiting'
  /** The worker has sent the command. */
  | 'running'
  /** The worker has decided to kill everything. The first decision counts and names the `LaunchFailure`. */
  | 'killed'
  /** bubblewrap has exited. */
  | 'ended';

export type LaunchEvent = 'freeze' | 'begin' | 'kill' | 'exit';

/** The states after each event. An unlisted event has no effect. */
const transitions: Readonly<Record<LaunchState, Partial<Record<LaunchEvent, LaunchState>>>> = {
  setting_up: { freeze: 'waiting', begin: 'running', kill: 'killed', exit: 'ended' },
  waiting: { begin: 'running', kill: 'killed', exit: 'ended' },
  running: { kill: 'killed', exit: 'ended' },
  killed: { exit: 'ended' },
  ended: {},
};

/** Null when the state ignores the event. */
export function nextState(state: LaunchState, event: LaunchEvent): LaunchState | null {
  return transitions[state][event] ?? null;
}

/** Why the worker killed the sandbox. */
export type LaunchFailure =
  /** The caller asked for the kill: from `setting_up`, `waiting` and `running`. */
  | { kind: 'killed' }
  /** `killAll` claimed the tree before the tree was fully recorded: from `setting_up`. */
  | { kind: 'taken_over' }
  /** The control group or the way to the proxy did not open: from `setting_up`. */
  | { kind: 'refused'; detail: string }
  /** The tree could not be recorded, so `killAll` could not find the tree: from `setting_up`. */
  | { kind: 'unrecorded'; error: unknown }
  /** The starter has ended: from every state. */
  | { kind: 'unstarted'; error: unknown };

/**
 * The end of the tree, from any state. Throws the error of an unrecorded tree, or of an ended starter.
 *
 * @param input.claim removes the tree's record. Returns whether `killAll` had claimed the tree
 * @param input.exitCode as reported by bubblewrap. Null when the command did not start, or bubblewrap was killed
 * @param input.signaled whether a signal ended bubblewrap. bubblewrap's own failures are exit codes
 */
export function endOf(input: {
  failure: LaunchFailure | null;
  claim(): boolean;
  exitCode: { code: number; signal: string | null } | null;
  signaled: boolean;
}): TreeEnd {
  const { failure, exitCode } = input;
  if (failure?.kind === 'unrecorded') throw failure.error;
  if (input.claim() || failure?.kind === 'taken_over') return { status: 'taken_over' };
  if (failure?.kind === 'unstarted') throw failure.error;
  if (failure?.kind === 'refused') return { status: 'setup_failed', detail: failure.detail };
  if (exitCode) return { status: 'exited', exit_code: exitCode.code, signal: exitCode.signal };
  return failure || input.signaled ? { status: 'lost' } : { status: 'setup_failed', detail: null };
}
