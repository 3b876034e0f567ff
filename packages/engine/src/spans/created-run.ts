import type { EventOf, Payload } from '@holdpoint/contract';
import { linkType } from '@holdpoint/contract/names';
import { linkToRun } from './ids.ts';

/**
 * Links to the original run of a fork and to the run above. The trace id of a linked run is computed from its id, unless the run is in its
 * caller's trace.
 */
export function linksOf({ forked_from, parent, linked_trace_id }: EventOf<'run.created'>['data']) {
  const links = [];
  if (forked_from !== undefined) {
    const { run_id, step_id } = forked_from;
    links.push(linkToRun(run_id, linkType.forkedFrom, { traceId: linked_trace_id, key: step_id ?? undefined }));
  }
  if (parent !== undefined) {
    const to = { traceId: linked_trace_id, key: parent.task_id };
    links.push(linkToRun(parent.run_id, linkType.worksFor, to));
  }
  return links;
}

/** The prompt of a run with a model, when its specification is short enough to be in the log. */
export function promptOf(spec: Payload): string | undefined {
  const read = 'json' in spec ? (spec.json as { goal?: { prompt?: unknown } } | null) : null;
  return typeof read?.goal?.prompt === 'string' ? read.goal.prompt : undefined;
}
