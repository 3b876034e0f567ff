import type { z } from 'zod';
import type { AgentKind } from './agent-kind.ts';
import type { CapabilityReport } from './capabilities.ts';
import type { PathChange } from './diff.ts';
import type { LongResult } from './long-result.ts';
import type { OutsideQuestion } from './outside-question.ts';
import type { AgentSpec, CommandUse, ShellSpec, TaskInput, TaskOutcome } from './task.ts';
import type { Problem, TaskKind, TaskStatus } from './vocabulary.ts';

/**
 * A task started by a call: a background command, or a sub-agent on a copy of the workspace. The task runs while steps of the run go ahead.
 */
export type NewTask =
  | { kind: 'shell'; title: string; spec: ShellSpec }
  | { kind: 'agent'; title: string; spec: AgentSpec };

interface Effects {
  /** The workspace paths changed by the call, when the call knows all of them. When absent, the snapshot walks the tree. */
  touched?: readonly string[] | undefined;
  capabilities?: CapabilityReport | undefined;
  /** The usage of the call's commands. Counted by the host. */
  command?: CommandUse | undefined;
  /** Set by the host for a result too long for a model to read whole. */
  long?: LongResult | undefined;
  /** Contents kept with the outcome, apart from the log: the value names each content by its SHA-256. */
  contents?: readonly Buffer[] | undefined;
}

/** How a tool call ends. `value` is JSON. */
export type ToolOutcome =
  | ({
      status: 'succeeded';
      value: unknown;
      /** Starts in the same append as the outcome, under the context's `taskId`. */
      task?: NewTask | undefined;
    } & Effects)
  /**
   * The call waits for a task and holds no worker: the call runs again when the task is over, or at `until` (milliseconds since the epoch).
   * Reads only.
   */
  | { status: 'deferred'; until: number; on: { task_id: string } | { task: NewTask } }
  /**
   * The other side of the call needs more time. The call holds no worker, and runs again with `outside` at `until`: such a run only asks for the
   * result. The call changed nothing in the workspace.
   */
  | { status: 'deferred'; until: number; on: { outside: string } }
  /**
   * The other side of the call asks a person before the call continues. The call parks, and is made again with the answers and the state;
   * its changes up to here stay.
   */
  | { status: 'deferred'; on: AskedPerson; touched?: readonly string[] | undefined }
  | ({ status: 'failed' | 'timed_out' | 'killed'; error: Problem; value?: unknown } & Effects);

/** @property state what the other side wants back with the answers, byte for byte */
export interface AskedPerson {
  question: OutsideQuestion;
  state?: string | undefined;
}

/**
 * A call continues with what its last execution wanted back.
 * @property over the call has ended without a result: this execution only lets go of what still works for the call
 */
export interface AwaitedOutside {
  outside: string;
  over?: true | undefined;
}

/** The changes of a run between two snapshots. */
export interface MergeContent {
  /** The first changes; `total` counts all. */
  changes: PathChange[];
  total: number;
  /** The patch of text files; a long patch is cut. */
  patch: string;
  /** Whether the patch was cut. */
  cut: boolean;
}

/** The effect of a merge in advance: the snapshot of the sub-agent's run, and the changes. */
export type MergePreview =
  | ({ status: 'ready'; run_id: string; snapshot: string } & MergeContent)
  | { status: 'refused'; problem: Problem };

/** The outcome of a merge. `left_out`: files of the other run without a place in any snapshot, such as a socket. */
export type MergeResult =
  | { status: 'merged'; paths: readonly string[]; left_out?: readonly string[] | undefined }
  | { status: 'conflict'; conflicts: { path: string; reason: string }[] }
  | { status: 'refused'; problem: Problem };

/** The effect of a held call on a throw-away fork of the workspace: an approval applies exactly this effect. */
export type ResultPreview = {
  kind: 'result';
  /** The snapshot of the run before the call, and the snapshot after. */
  base: string;
  snapshot: string;
  files_changed: number;
  skipped: number;
  status: 'succeeded' | 'failed' | 'timed_out' | 'killed';
  value: Json;
  error?: Problem | undefined;
  capabilities?: CapabilityReport | undefined;
  duration_ms: number;
} & MergeContent;

/** Shown to a person before a decision. */
export type Preview =
  | { kind: 'diff'; path: string; patch: string }
  | {
      kind: 'command';
      command: string;
      cwd: string;
      network: readonly string[];
      /** Names of the secrets passed to the command as variables, or added by the proxy to its requests. */
      secrets?: readonly string[];
      background?: true;
    }
  | ({ kind: 'merge'; task_id: string; run_id: string; snapshot: string } & MergeContent)
  /** `server`: an outside server asks, and its call continues with the answer. */
  | { kind: 'question'; question: string; options: string[]; server?: string }
  | { kind: 'plan'; title: string; text: string; todos: string[] }
  | { kind: 'problem'; message: string };

/** A tool's view of a task. */
export interface TaskView {
  id: string;
  kind: TaskKind;
  title: string;
  /** The kind of a sub-agent, if any. */
  agent?: string | undefined;
  status: TaskStatus;
  /** Present when the task is over. */
  outcome?: TaskOutcome | undefined;
  /** For a sub-agent: its run and the run's status. */
  child?: { run_id: string; status: string } | undefined;
  created_at: string;
  started_at?: string | undefined;
  ended_at?: string | undefined;
}

/** A part of the output of a background command. Cursors count bytes from the beginning of the stream. */
export interface OutputPage {
  text: string;
  /** Where `text` begins: later than requested when the requested bytes are no longer kept. */
  from: number;
  next: number;
  total: number;
  /** Bytes between the requested position and `from`. */
  omitted: number;
}

/** `stdout`, `stderr`: bytes printed before the input. */
export type SentInput = { status: 'sent'; stdout: number; stderr: number } | { status: 'refused'; problem: Problem };

/** The tasks of the call's run. */
export interface TaskHandle {
  list(): Promise<TaskView[]>;
  get(taskId: string): Promise<TaskView | undefined>;
  output(taskId: string, at: { stream: 'stdout' | 'stderr'; from: number; maxBytes: number }): Promise<OutputPage>;
  /** Requests the end of a task and waits at most 10 s for the end. No-op when the task is over. */
  kill(taskId: string): Promise<TaskView | undefined>;
  /**
   * Sends a text to the standard input of a running command, once for all attempts of the step. Waits at most 10 s for the start of the
   * command. Undefined: there is no such task. Only for a writing tool.
   */
  send(taskId: string, input: TaskInput): Promise<SentInput | undefined>;
  /** Brings the changes of a sub-agent into the workspace, all or nothing. Only for a writing tool. */
  merge(taskId: string): Promise<MergeResult>;
  /** Finds a kind of sub-agent by its name, as defined at the beginning of the run; a refusal lists the known names. */
  agentKind(name: string): Promise<{ status: 'found'; kind: AgentKind } | { status: 'refused'; problem: Problem }>;
  /** Previews the effect of a merge. Changes nothing. */
  previewMerge(taskId: string): Promise<MergePreview>;
}

/** A JSON value. */
export type Json = z.core.util.JSONType;
