import { isTerminal } from '@holdpoint/contract';
import { reportToParent } from '../agents/report-agent.ts';
import { reportEnd } from '../agents/report-end.ts';
import { requestCancel } from '../commands/steer-run.ts';
import { wakeRun } from '../commands/submit-run.ts';
import type { WorkerDeps } from '../deps.ts';
import * as domain from '../domain/index.ts';
import { doneAt, type JobContext, type JobEnd } from '../jobs/index.ts';
import { append, fromPayload, readRun, readSpec, toPayload, trackRun } from '../log/index.ts';
import { reconcile } from '../reconcile/reconcile.ts';
import { traceOfCaller } from '../spans/index.ts';

/** Creates the run of a sub-agent, cancels the run when its end was requested, and reports its end to the run above. */
export async function superviseAgent(
  deps: WorkerDeps,
  run: domain.RunState,
  task: domain.TaskState,
  { signal }: JobContext,
): Promise<JobEnd> {
  const childId = task.about.child ?? '';
  const child = await readRun(deps.redis, childId);
  const isUnwanted = task.kill !== undefined || run.status === 'canceling' || isTerminal(run.status);
  if (!child) {
    if (isUnwanted) {
      const message = 'It was ended before it had begun.';
      await append(deps, run.id, domain.endTask(task, domain.killedOutcome({ code: 'EKILLED', message })));
    } else if (run.status !== 'paused' && run.restore !== 'due') {
      await begin(deps, run, task, childId);
    }
  } else {
    if (task.status === 'queued') await append(deps, run.id, domain.startAgent(task, deps.workerId));
    if (isTerminal(child.status)) await reportEnd(deps, child);
    else await reportToParent(deps, childId);
    if (isUnwanted && !isTerminal(child.status)) await requestCancel(deps, childId, { by: task.kill ?? run.id });
  }
  await reconcile(deps, run.id, signal);
  return doneAt(run);
}

async function begin(deps: WorkerDeps, run: domain.RunState, task: domain.TaskState, childId: string): Promise<void> {
  const asked = await fromPayload(deps.blobs, task.about.spec);
  if (!('goal' in asked)) throw new TypeError(`the task ${task.id} has no goal`);
  const theirs = await readSpec(deps, run);
  const spec = domain.specOfAgent(
    { ...theirs, ...domain.boundBy(deps.operatorPolicy?.(), theirs) },
    asked,
    task.about.title,
  );
  const snapshot = run.snapshot ?? '';
  const depth = (run.parent?.depth ?? 0) + 1;
  await trackRun(deps.redis, childId, run.tenant);
  const created = await append(
    deps,
    childId,
    domain.createRun(spec, {
      stored: await toPayload(deps.blobs, spec),
      by: run.id,
      tenant: run.tenant,
      tools: deps.catalog.versions(spec.toolset),
      linkedTraceId: traceOfCaller(run),
      parent: { run_id: run.id, step_id: task.about.step_id, task_id: task.id, snapshot, depth },
    }),
  );
  await append(deps, run.id, domain.startAgent(task, deps.workerId));
  if (created.ok) await wakeRun(deps, { id: childId }, 1, { isNew: true });
}
