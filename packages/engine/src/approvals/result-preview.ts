import { createHash } from 'node:crypto';
import { canonicalJson, fixedTime, type Json, type ResultPreview, readsOnly } from '@holdpoint/contract';
import { forbiddenPaths } from '@holdpoint/policy';
import { seedOf, snapshotMessage, tookSince } from '../calls/capture-call.ts';
import { openModelUseRecorder } from '../calls/record-model-use.ts';
import type { EngineDeps, WorkerDeps } from '../deps.ts';
import { type ApprovalState, asPlanned, type RunState, type StepState, scopeOf } from '../domain/index.ts';
import { leaveIfAborted } from '../jobs/index.ts';
import { fromPayload, readApproval, readSpec } from '../log/index.ts';
import type { ExecutionContext } from '../ports/index.ts';
import { openPast } from '../queries/past-calls.ts';

/** The first word of a `uses` value that binds an approval to a result. */
const resultWord = 'result';

export const isResult = (uses: string | undefined): uses is string => uses?.startsWith(`${resultWord} `) === true;

/** Whether a caller waits for the result of a held call, and a worker may run the call now. */
export const isPreviewDue = (run: RunState, { status, previewing }: ApprovalState): boolean =>
  (run.status === 'running' || run.status === 'waiting') &&
  run.restore !== 'due' &&
  status === 'pending' &&
  previewing !== undefined;

/** The approval of a parked step whose result a worker has to show now. */
export async function dueForPreview(
  { redis }: Pick<EngineDeps, 'redis'>,
  run: RunState,
  { status, approval: id }: StepState,
): Promise<ApprovalState | undefined> {
  const approval = status !== 'parked' || id === undefined ? undefined : await readApproval(redis, run.id, id);
  return approval !== undefined && isPreviewDue(run, approval) ? approval : undefined;
}

/**
 * Runs a held call on a throw-away fork of the run's snapshot, without a network, and keeps the resulting snapshot. The fork is discarded
 * before the function returns. A fork left by a dying process is a folder of an unknown run, and maintenance removes the folder.
 * @returns undefined for a call whose result is more than files, or too large to show: the approval shows the call without a result
 */
export async function previewResult(
  deps: WorkerDeps,
  run: RunState,
  step: StepState,
  signal: AbortSignal,
): Promise<ResultPreview | undefined> {
  const { snapshot: base = '' } = run;
  const fork = deps.newId('run');
  try {
    const spec = asPlanned(await readSpec(deps, run), step.call);
    const from = { runId: run.id, snapshot: base };
    const createdAt = spec.modes.deterministic ? fixedTime : undefined;
    await deps.workspaces.fork({ runId: fork, from, createdAt, onProgress: () => {}, signal });
    const args = await fromPayload(deps.blobs, step.args);
    const startedAt = performance.now();
    const outcome = await deps.executor.execute(
      { toolset: run.header.toolset, tool: step.call.tool, args },
      {
        ...{ runId: fork, stepId: step.id, attempt: step.attempt + 1, epoch: 1 },
        ...{ taskId: deps.newId('task'), tasks: noTasks },
        ...{ depth: run.parent?.depth ?? 0, maxDepth: spec.limits.max_depth, model: run.header.model },
        ...{ wallMs: spec.limits.step_wall_s * 1000, limits: spec.limits.command ?? {}, settings: spec.settings },
        past: openPast(deps, run, step),
        ...{
          network: { allow: [] },
          scope: { ...scopeOf(run, spec), secrets: [] },
          approved: true,
          granted: [],
          openHosts: () => [],
          readOnly: readsOnly(spec.modes),
          dryRun: spec.modes.dry_run,
          snapshot: base,
          permissions: spec.permissions,
          seed: seedOf(spec, step.call),
          onModelUse: openModelUseRecorder(deps, run.id, { id: step.id, attempt: step.attempt + 1 }, 'pending').record,
          onConnection: () => {},
          signal,
        },
      },
    );
    signal.throwIfAborted();
    if (outcome.status === 'deferred' || (outcome.status === 'succeeded' && outcome.task !== undefined))
      return undefined;
    const taken = await deps.workspaces.snapshot({
      ...{ runId: fork, epoch: 1, parent: base },
      message: snapshotMessage(spec, { ...step, attempt: step.attempt + 1 }),
      paths: outcome.touched,
      forbids: forbiddenPaths(spec),
      scope: scopeOf(run, spec),
    });
    const content = await deps.workspaces.contentOf({ runId: fork, from: base, to: taken.snapshot, whole: true });
    // Only a result that can be shown is approved: otherwise a person decides on the call.
    if (content.cut || content.total > content.changes.length || taken.skipped > 0) return undefined;
    await deps.workspaces.keepPreview({ runId: run.id, from: { runId: fork, snapshot: taken.snapshot } });
    return {
      kind: 'result',
      base,
      ...taken,
      status: outcome.status,
      value: (outcome.value as Json) ?? null,
      error: outcome.status === 'succeeded' ? undefined : outcome.error,
      capabilities: outcome.capabilities,
      duration_ms: tookSince(spec, startedAt),
      ...content,
    };
  } catch (error) {
    leaveIfAborted(signal);
    throw error;
  } finally {
    await deps.workspaces.discard(fork);
  }
}

/** The part of the approval's digest for a result: the shown files and the shown outcome. */
export function usesOf(preview: ResultPreview): string {
  const { snapshot, status, value, error } = preview;
  const text = canonicalJson([status, value, error ?? null]);
  return `${resultWord} ${snapshot} ${createHash('sha256').update(text).digest('hex')}`;
}

/** Whether an approval shows a result, so that approving applies exactly this result. */
export const showsResult = ({ request }: ApprovalState): boolean => request.kind === 'action' && isResult(request.uses);

/** The result that a person approved. An edited call has a different result, so the call runs. */
export async function approvedResult(
  deps: WorkerDeps,
  run: RunState,
  step: StepState,
): Promise<ResultPreview | undefined> {
  if (step.approval === undefined || step.approved_snapshot === undefined) return undefined;
  const approval = await readApproval(deps.redis, run.id, step.approval);
  if (approval === undefined || approval.decision?.decision !== 'approve' || !showsResult(approval)) return undefined;
  const shown = approval.request.preview && (await fromPayload(deps.blobs, approval.request.preview));
  return shown !== undefined && 'kind' in shown && shown.kind === resultWord ? (shown as ResultPreview) : undefined;
}

/** Discards the shown result of a call that settled without using the result. */
export async function dropResult(deps: WorkerDeps, run: RunState, step: StepState): Promise<void> {
  const approval = step.approval === undefined ? undefined : await readApproval(deps.redis, run.id, step.approval);
  if (approval !== undefined && showsResult(approval)) await dropShown(deps, run, approval);
}

export async function dropShown(
  deps: WorkerDeps,
  run: RunState,
  { request: { uses = '' } }: ApprovalState,
): Promise<void> {
  const [, snapshot] = uses.split(' ');
  if (snapshot !== undefined) await deps.workspaces.dropPreviews({ runId: run.id, snapshot });
}

const refused = { code: 'EPREVIEW', message: 'A call that is only shown begins no task and merges nothing.' };

const noTasks: ExecutionContext['tasks'] = {
  list: async () => [],
  get: async () => undefined,
  output: async () => ({ text: '', from: 0, next: 0, total: 0, omitted: 0 }),
  kill: async () => undefined,
  send: async () => ({ status: 'refused', problem: refused }),
  merge: async () => ({ status: 'refused', problem: refused }),
  agentKind: async () => ({ status: 'refused', problem: refused }),
  previewMerge: async () => ({ status: 'refused', problem: refused }),
};
