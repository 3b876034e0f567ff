import { conflictSchema } from '@holdpoint/client/wire/problem';
import { publishedSchema } from '@holdpoint/client/wire/published';
import type { Run, RunDetail } from '@holdpoint/client/wire/run';
import type { RunSpec } from '@holdpoint/engine/domain/run-spec';
import type { RunState } from '@holdpoint/engine/domain/state';
import { sourceSchema } from '@holdpoint/workspace/port';

/** A run as the API shows it. */
export function toRun(run: RunState): Run {
  const { header } = run;
  return {
    id: run.id,
    title: header.title,
    status: run.status,
    toolset: header.toolset,
    planner: header.planner,
    model: header.model ?? null,
    labels: header.labels,
    seq: run.seq,
    turn: run.turn,
    open_steps: run.open,
    pending_approvals: run.parked,
    message: run.message ?? null,
    reason: run.reason ?? null,
    workspace: { base: run.base ?? null, snapshot: run.snapshot ?? null },
    publication: toPublication(run),
    created_at: run.created_at,
    started_at: run.started_at ?? null,
    ended_at: run.ended_at ?? null,
  };
}

export function toRunDetail(run: RunState, spec: RunSpec): RunDetail {
  const { task, source, policy, limits, network } = spec;
  const prompt = task.planner === 'model' ? task.prompt : null;
  return { ...toRun(run), request: { prompt, source: sourceSchema.parse(source), policy, limits, network } };
}

/** What a publication came to is JSON of the workspace room; what does not fit is left out. */
function toPublication({ publication: status, publication_detail: detail = {} }: RunState): Run['publication'] {
  const published = publishedSchema.safeParse(detail.published);
  const conflicts = conflictSchema.array().safeParse(detail.conflicts);
  return {
    status,
    published: published.success ? published.data : null,
    conflicts: conflicts.success ? conflicts.data : [],
  };
}
