import type { Snapshot, SnapshotId, Workspaces } from '../port/workspaces.ts';

interface Deps {
  workspaces: Pick<Workspaces, 'snapshot' | 'restore'>;
  /** Kills every process with a possible write to the workspace. */
  killAll(runId: string): Promise<void>;
}

export interface Transaction<Value> {
  runId: string;
  /** The epoch of the tree. */
  epoch: number;
  /** The present snapshot of the workspace. */
  parent: SnapshotId;
  message: string;
  /** Changes files. A throw or `ok: false` rolls back. */
  act(): Promise<{ ok: true; value: Value } | { ok: false; reason: string }>;
  /** Checks the files afterwards and returns why they are invalid, or undefined. Its own writes are undone. @default no check */
  validate?(snapshot: Snapshot): Promise<string | undefined>;
  signal?: AbortSignal;
}

export type TransactionResult<Value> =
  | { status: 'committed'; snapshot: Snapshot; value: Value }
  | { status: 'rolled_back'; reason: string };

/**
 * Makes several calls a single change of the workspace: either a snapshot has the whole change, or the files have nothing of the change. When
 * this process dies in between, the worker of the take-over restores the files to `parent`, as after any attempt without an outcome.
 *
 * @throws the error of `act` or `validate`, after the files were restored
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

/** Validators check the committed files; their writes (caches, reports) are removed again. */
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
