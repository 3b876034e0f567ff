import type { EventOf, Payload } from '@holdpoint/contract';
import { attribute, genAi, general, linkType, partsOfTraceparent } from '@holdpoint/contract/names';
import type { EventsOf } from '../domain/changes/state-changes.ts';
import { messageOf } from './content.ts';
import { linkToRun, spanKeys, traceIdOf } from './ids.ts';
import { endWaitForModel, requestFailed } from './model-spans.ts';
import { beginLife, changeState, endLife } from './segments.ts';
import { add, close, link, note, open } from './spans.ts';
import type { SpansOf } from './spans-of.ts';
import { stepIsUndone } from './step-spans.ts';
import type { TraceState } from './trace-state.ts';

/** The spans of a run and its states. */
export const runSpans: SpansOf<EventsOf<'run'>> = {
  'run.created': (trace, { data }) => {
    const { planner, toolset, model, traceparent, tenant, priority, dry_run, parent } = data;
    trace.traceId = traceIdOf(trace.runId, traceparent);
    trace.remoteParent = traceparent === undefined ? null : partsOfTraceparent(traceparent).spanId;
    Object.assign(trace, { planner, toolset, model, tenant: tenant ?? 'default' });
    if (data.forked_from !== undefined)
      trace.origin = { runId: data.forked_from.run_id, traceId: data.linked_trace_id };
    beginLife(trace, {
      attributes: {
        [attribute.tenant]: trace.tenant,
        [genAi.inputMessages]: messageOf(trace, 'user', promptOf(data.spec)),
        [attribute.priority]: priority ?? 'normal',
        [attribute.dryRun]: dry_run,
        [attribute.runDepth]: parent?.depth,
      },
      links: linksOf(data),
    });
  },
  'run.started': (trace) => {
    changeState(trace, 'running');
    trace.due = trace.now;
  },
  'run.waiting': (trace, { seq, data }) => {
    changeState(trace, 'waiting', data.for);
    if (data.for !== 'calls') return;
    const attributes = { [attribute.waitFor]: 'calls' };
    open(trace, spanKeys.at('wait', seq), { kind: 'wait', name: 'wait calls', attributes });
  },
  'run.resumed': (trace, { data }) => {
    endWaits(trace);
    if (!trace.isAlive) beginLife(trace, { attributes: {}, links: [] });
    changeState(trace, data.status);
    note(trace, spanKeys.run(trace.life), 'run resumed', { [attribute.resumedAfter]: data.after });
    if (data.status === 'running' && trace.left === 0) trace.due = trace.now;
  },
  'run.extended': (trace) => note(trace, spanKeys.run(trace.life), 'run extended'),
  'run.paused': (trace, { seq, data }) => {
    if (data.reason.code.startsWith('EMODEL')) requestFailed(trace, seq, data.reason.code);
    endWaits(trace);
    changeState(trace, 'paused', data.reason.code);
  },
  'run.rewound': (trace, { data }) => {
    for (const { id } of data.undone) stepIsUndone(trace, id);
    if (!trace.isAlive) beginLife(trace, { attributes: {}, links: [] });
    note(trace, spanKeys.run(trace.life), 'run rewound', { [attribute.undoneSteps]: data.undone.length });
    trace.left = data.open;
    trace.rewinds += 1;
  },
  'run.forked': (trace, { data }) => {
    const run = spanKeys.run(trace.life);
    note(trace, run, 'run forked', { [attribute.childRunId]: data.child });
    link(trace, run, linkToRun(data.child, linkType.fork));
  },
  'run.closing': (trace) => {
    trace.due = undefined;
    note(trace, spanKeys.run(trace.life), 'run closing');
  },
  'run.canceling': (trace) => {
    endWaits(trace);
    changeState(trace, 'canceling');
  },
  'run.canceled': (trace) => endLife(trace, 'canceled', {}),
  'run.succeeded': (trace) => endLife(trace, 'succeeded', { status: 'ok' }),
  'run.failed': (trace, { data: { reason } }) =>
    endLife(trace, 'failed', { status: 'error', code: reason.code, attributes: { [general.errorType]: reason.code } }),
  'run.repaired': (trace, { seq, data }) => {
    const attributes = { [attribute.repairClass]: data.class };
    const subject = [data.subject, spanKeys.run(trace.life), spanKeys.publish(trace.publishes)];
    const key = subject.find((key) => key !== undefined && trace.open.has(key));
    if (key !== undefined) return note(trace, key, 'run repaired', attributes);
    add(trace, spanKeys.at('repair', seq), { kind: 'workspace', name: 'workspace repair', attributes });
  },
};

function endWaits(trace: TraceState): void {
  endWaitForModel(trace, trace.now);
  for (const [key, { kind, name }] of trace.open) if (kind === 'wait' && name === 'wait calls') close(trace, key);
}

/**
 * Links to the original run of a fork and to the run above. The trace id of a linked run is computed from its id, unless the run is in its
 * caller's trace.
 */
function linksOf({ forked_from, parent, linked_trace_id }: EventOf<'run.created'>['data']) {
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
function promptOf(spec: Payload): string | undefined {
  const read = 'json' in spec ? (spec.json as { goal?: { prompt?: unknown } } | null) : null;
  return typeof read?.goal?.prompt === 'string' ? read.goal.prompt : undefined;
}
