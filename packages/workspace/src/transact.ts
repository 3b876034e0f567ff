import type { Snapshot, SnapshotId, Workspaces } from './port.ts';

interface Deps {
  workspaces: Pick<Workspaces, 'snapshot' | 'restore'>;
  /** Ends everything that may still write to the workspace. */
  quiesce(runId: string): Promise<void>;
}

export interface Transaction<Value> {
  runId: string;
  /** The snapshot that the workspace is at. */
  parent: SnapshotId;
  message: string;
  /** The calls. Throwing, or returning `ok: false`, rolls back. */
  act(): Promise<{ ok: true; value: Value } | { ok: false; reason: string }>;
  /** What must hold of the files afterwards: why it does not, or undefined. @default nothing */
  validate?(): Promise<string | undefined>;
  signal?: AbortSignal;
}

export type Transacted<Value> =
  | { status: 'committed'; snapshot: Snapshot; value: Value }
  | { status: 'rolled_back'; reason: string };

/**
 * Makes a batch of calls one change of the workspace: all of it is in one snapshot, or none of it is in the files. When this process dies
 * in the middle, the files are between the two, and whoever takes over brings them back to `parent`, as after any attempt without an outcome.
 *
 * @throws whatever `act` or `validate` threw, after the files are as they were
 *
 * @example
 * const done = await transact(deps, { runId, parent, message: 'rename', act: renameEverywhere, validate: typeCheck });
 * if (done.status === 'rolled_back') return done.reason;
 */
export async function transact<Value>(deps: Deps, transaction: Transaction<Value>): Promise<Transacted<Value>> {
  const { runId, parent, message, signal } = transaction;
  const rollBack = async (): Promise<void> => {
    await deps.quiesce(runId);
    await deps.workspaces.restore({ runId, snapshot: parent });
  };
  try {
    const done = await transaction.act();
    signal?.throwIfAborted();
    const reason = done.ok ? await transaction.validate?.() : done.reason;
    signal?.throwIfAborted();
    if (done.ok && reason === undefined) {
      await deps.quiesce(runId);
      return {
        status: 'committed',
        snapshot: await deps.workspaces.snapshot({ runId, parent, message }),
        value: done.value,
      };
    }
    await rollBack();
    return { status: 'rolled_back', reason: reason ?? 'a call failed' };
  } catch (error) {
    await rollBack();
    throw error;
  }
}
