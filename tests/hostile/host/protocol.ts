import type { CapabilityReport, WorkspaceFiles } from '@holdpoint/contract';
import type { Command, WorkspaceMount } from '@holdpoint/sandbox';

export type FileOperation = keyof WorkspaceFiles;

/** A test's question to a worker process. */
export type Question =
  | ({ kind: 'run' } & Omit<Command, 'signal'>)
  | { kind: 'files'; workspace: WorkspaceMount; operation: FileOperation; args: unknown[] }
  | { kind: 'kill_all'; workspaceId: string }
  | { kind: 'ping' };

export type ToWorker = { id: number; question: Question } | { id: number; abort: string };

export type FromWorker =
  | { ready: CapabilityReport }
  | { id: number; value: unknown }
  | { id: number; error: { name: string; message: string; code: unknown; retryable: unknown } };
