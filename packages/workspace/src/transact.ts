import type { Snapshot, SnapshotId, Workspaces } from './port.ts';

interface Deps {
  workspaces: Pick<Workspaces, 'snapshot' | 'restore'>;
  /** Ends everything that may still write to the workspace. */
  killAll(runId: string): Promise<void>;
}

export interface Transaction<Value> {
  runId: string;
  /** Of the tree. */
  epoch: number;
  /** The snapshot that the workspace is at. */
  parent: SnapshotId;
  message: string;
  /** The calls. Throwing, or returning `ok: false`, rolls back. */
  act(): Promise<{ ok: true; value: Value } | { ok: false; reason: string }>;
  /** What must hold of the files afterwards: why it does not, or undefined. What it writes is taken back. @default nothing */
  validate?(snapshot: Snapshot): Promise<string | undefined>;
  signal?: AbortSignal;
}

export type TransactionResult<Value> =
  | { status: 'committed'; snapshot: Snapshot; value: Value }
  | { status: 'rolled_back'; reason: string };

/**
 * Makes a batch of calls one change of the workspace: all of it is in one snapshot, or none of it is in the files. When this process dies
 * in the middle, the files are between the two, and whoever takes over brings them back to `parent`, as after any attempt without an outcome.
 *
 * @throws whatever `act` or `validate` threw, after the files are as they were
 *
 * @example
 * const done = await transact(deps, { runId, epoch, parent, message: 'rename', act: renameEverywhere, validate: typeCheck });
 * if (done.status === 'rolled_back') return done.reason;
 */
export async function transact<Value>(deps: Deps, transaction: Transaction<Value>): Promise<TransactionResult<Value>> {
  const { runId, epoch, parent, signal } = transaction;
  const rollBack = async (): Promise<void> => {
    await deps.killAll(runId);
    await deps.workspaces.restore({ runId, epoch, snapshot: parent });
  };
  try {
    const done = await transaction.act();
    signal?.throwIfAborted();
    if (done.ok) {
      const committed = await commit(deps, transaction);
      if (committed.ok) return { status: 'committed', snapshot: committed.snapshot, value: done.value };
      await rollBack();
      return { status: 'rolled_back', reason: committed.reason };
    }
    await rollBack();
    return { status: 'rolled_back', reason: done.reason };
  } catch (error) {
    await rollBack();
    throw error;
  }
}

/** Validators look at what is committed, and what they leave behind (caches, reports) is no part of it. */
async function commit(
  { workspaces, killAll }: Deps,
  { runId, epoch, parent, message, validate, signal }: Omit<Transaction<unknown>, 'act'>,
): Promise<{ ok: true; snapshot: Snapshot } | { ok: false; reason: string }> {
  await killAll(runId);
  const snapshot = await workspaces.snapshot({ runId, epoch, parent, message });
  if (validate === undefined) return { ok: true, snapshot };
  const reason = await validate(snapshot);
  signal?.throwIfAborted();
  if (reason !== undefined) return { ok: false, reason };
  await killAll(runId);
  await workspaces.restore({ runId, epoch, snapshot: snapshot.id });
  return { ok: true, snapshot };
}
