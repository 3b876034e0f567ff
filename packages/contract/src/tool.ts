import type { z } from 'zod';
import type { AgentKind } from './agent-kind.ts';
import type { CapabilityReport } from './capabilities.ts';
import type { PathChange } from './diff.ts';
import type { AgentSpec, CommandUse, ShellSpec, TaskOutcome } from './task.ts';
import type { Problem, TaskKind, TaskStatus } from './vocabulary.ts';

/** A task that a call starts beside the steps: a background command, or a sub-agent on a copy of the workspace. */
export type NewTask =
  | { kind: 'shell'; title: string; spec: ShellSpec }
  | { kind: 'agent'; title: string; spec: AgentSpec };

interface Effects {
  /** The workspace paths that the call changed, when it knows all of them. When absent, the snapshot walks the tree. */
  touched?: readonly string[] | undefined;
  capabilities?: CapabilityReport | undefined;
  /** What its commands used. Counted by the host. */
  command?: CommandUse | undefined;
}

/** How a tool call ends. `value` is JSON. */
export type ToolOutcome =
  | ({
      status: 'succeeded';
      value: unknown;
      /** Starts in the same append as the outcome, under the context's `taskId`. */
      task?: NewTask | undefined;
    } & Effects)
  /** The call waits for a task and holds no worker: it runs again when the task is over, or at `until` (milliseconds since the epoch). Reads only. */
  | { status: 'deferred'; until: number; on: { task_id: string } | { task: NewTask } }
  | ({ status: 'failed' | 'timed_out' | 'killed'; error: Problem; value?: unknown } & Effects);

/** What a run changed between two snapshots. */
export interface MergeContent {
  /** The first changes; `total` counts all. */
  changes: PathChange[];
  total: number;
  /** The patch of text files, cut when it is long. */
  patch: string;
  /** Whether the patch was cut. */
  cut: boolean;
}

/** What a merge would bring: the snapshot of the sub-agent's run, and its content. */
export type MergePreview =
  | ({ status: 'ready'; run_id: string; snapshot: string } & MergeContent)
  | { status: 'refused'; problem: Problem };

/** What a merge did. `left_out`: what the other run made and no snapshot can hold, such as a socket. */
export type MergeResult =
  | { status: 'merged'; paths: readonly string[]; left_out?: readonly string[] | undefined }
  | { status: 'conflict'; conflicts: { path: string; reason: string }[] }
  | { status: 'refused'; problem: Problem };

/** What a held call did on a throw-away fork of the workspace: approving applies exactly this. */
export type ResultPreview = {
  kind: 'result';
  /** The snapshot of the run that it was made on, and the one that it left. */
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

/** What a person sees before a decision. */
export type Preview =
  | { kind: 'diff'; path: string; patch: string }
  | {
      kind: 'command';
      command: string;
      cwd: string;
      network: readonly string[];
      /** Names of the secrets that the command gets as variables, or that the proxy adds to its requests. */
      secrets?: readonly string[];
      background?: true;
    }
  | ({ kind: 'merge'; task_id: string; run_id: string; snapshot: string } & MergeContent)
  | { kind: 'question'; question: string; options: string[] }
  | { kind: 'problem'; message: string };

/** A task as a tool sees it. */
export interface TaskView {
  id: string;
  kind: TaskKind;
  title: string;
  /** The kind of a sub-agent that has one. */
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

/** A part of what a background command printed. Cursors count bytes from the beginning of the stream. */
export interface OutputPage {
  text: string;
  /** Where `text` begins: later than requested when the requested bytes are no longer kept. */
  from: number;
  next: number;
  total: number;
  /** Bytes between the requested position and `from`. */
  omitted: number;
}

/** The tasks of the run that a call belongs to. */
export interface TaskHandle {
  list(): Promise<TaskView[]>;
  get(taskId: string): Promise<TaskView | undefined>;
  output(taskId: string, at: { stream: 'stdout' | 'stderr'; from: number; maxBytes: number }): Promise<OutputPage>;
  /** Requests the end of a task and waits for it, at most 10 s. No-op when the task is over. */
  kill(taskId: string): Promise<TaskView | undefined>;
  /** Brings what a sub-agent changed into the workspace, all of it or nothing. Only for a tool that writes. */
  merge(taskId: string): Promise<MergeResult>;
  /** A kind of sub-agent by its name, as it was when the run began; refused with the names that there are. */
  agentKind(name: string): Promise<{ status: 'found'; kind: AgentKind } | { status: 'refused'; problem: Problem }>;
  /** What a merge would bring now. Changes nothing. */
  previewMerge(taskId: string): Promise<MergePreview>;
}

/** A JSON value. */
export type Json = z.core.util.JSONType;
