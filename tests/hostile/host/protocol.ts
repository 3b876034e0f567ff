import type { CapabilityReport } from '@holdpoint/contract';
import type { Command, WorkspaceFiles, WorkspaceMount } from '@holdpoint/sandbox/port';

export type FileOperation = keyof WorkspaceFiles;

/** What a test asks of a worker process. */
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
