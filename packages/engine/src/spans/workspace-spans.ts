import { attribute, spanName } from '@holdpoint/contract/names';
import type { PublicationEvent } from '../domain/changes/publication.ts';
import type { EventsOf } from '../domain/changes/state-changes.ts';
import { spanKeys } from './ids.ts';
import { add, close, note, open, type SpanEnd, set } from './spans.ts';
import type { SpansOf } from './spans-of.ts';
import type { TraceState } from './trace-state.ts';
import { waited } from './turn-spans.ts';

/** The spans of work on the tree. For the spans of a publish see `publish-spans.ts`. */
export const workspaceSpans: SpansOf<Exclude<EventsOf<'workspace'>, PublicationEvent | 'workspace.validating'>> = {
  'workspace.progress': (trace) => {
    trace.copying ??= trace.now;
  },
  'workspace.materialised': (trace, { seq, data }) => {
    const { began_at, snapshot, files, bytes } = data;
    const due = trace.open.get(spanKeys.segment(trace.segments))?.start ?? trace.now;
    const began = Math.max(
      due,
      Math.min(began_at === undefined ? (trace.copying ?? due) : Date.parse(began_at), trace.now),
    );
    if (began > due) waited(trace, seq, { from: due, to: began });
    add(
      trace,
      spanKeys.materialise,
      {
        kind: 'workspace',
        name: spanName.workspace('materialise'),
        start: began,
        attributes: {
          [attribute.workspaceAction]: 'materialise',
          [attribute.snapshot]: snapshot,
          [attribute.files]: files,
          [attribute.bytes]: bytes,
        },
      },
      { status: 'ok' },
    );
  },
  'workspace.snapshotted': (trace, { step_id, data: { attempt, snapshot, files_changed } }) =>
    set(trace, spanKeys.attempt(step_id, attempt), {
      [attribute.snapshot]: snapshot,
      [attribute.filesChanged]: files_changed,
    }),
  'workspace.drifted': (trace, { step_id, data }) =>
    note(trace, step_id, 'workspace drifted', { [attribute.filesChanged]: data.files_changed }),
  'workspace.leased': (trace, { data: { epoch, worker } }) => {
    endTakeOver(trace);
    const publish = spanKeys.publish(trace.publishes);
    const parent = trace.open.has(publish) ? publish : undefined;
    // The tree of an ended run is about to be deleted.
    if (!trace.isAlive && parent === undefined) return;
    open(trace, spanKeys.takeOver(epoch), {
      kind: 'workspace',
      name: spanName.workspace('take_over'),
      parent,
      attributes: {
        [attribute.workspaceAction]: 'take_over',
        [attribute.epoch]: epoch,
        [attribute.worker]: worker,
      },
    });
  },
  'workspace.distrusted': (trace, { data: { reason, epoch } }) =>
    note(trace, spanKeys.run(trace.life), 'workspace distrusted', {
      [attribute.workspaceReason]: reason,
      [attribute.epoch]: epoch,
    }),
  'workspace.restored': (trace, { data }) => {
    for (const [key, { attributes }] of trace.open) {
      if (attributes[attribute.workspaceAction] !== 'take_over') continue;
      close(trace, key, { status: 'ok', attributes: { [attribute.snapshot]: data.snapshot } });
    }
  },
  'workspace.preparing': (trace, { seq, data: { number, worker } }) => {
    endPrepare(trace, { code: 'lost' });
    const attributes = {
      [attribute.workspaceAction]: 'prepare',
      [attribute.worker]: worker,
      [attribute.files]: number,
    };
    open(trace, spanKeys.at('prepare', seq), { kind: 'workspace', name: spanName.workspace('prepare'), attributes });
  },
  'workspace.prepared': (trace, { data: { snapshot, files_changed, cached } }) =>
    endPrepare(trace, {
      status: 'ok',
      attributes: {
        [attribute.snapshot]: snapshot,
        [attribute.filesChanged]: files_changed,
        [attribute.workspaceReason]: cached && 'cached',
      },
    }),
  'workspace.prepare_failed': (trace) => endPrepare(trace, { code: 'prepare_failed' }),
  'workspace.held': (trace, { data }) => note(trace, spanKeys.capture(data.task_id), 'workspace held'),
  'workspace.captured': (trace, { data: { task_id, snapshot, files_changed } }) =>
    close(trace, spanKeys.capture(task_id), {
      status: 'ok',
      attributes: { [attribute.snapshot]: snapshot, [attribute.filesChanged]: files_changed },
    }),
};

function endPrepare(trace: TraceState, end: SpanEnd): void {
  for (const [key, { attributes }] of trace.open) {
    if (attributes[attribute.workspaceAction] === 'prepare') close(trace, key, { status: 'error', ...end });
  }
}

/** Another worker takes the tree: the previous worker did not finish its take-over. */
function endTakeOver(trace: TraceState): void {
  for (const [key, { attributes }] of trace.open) {
    if (attributes[attribute.workspaceAction] === 'take_over') close(trace, key, { status: 'error', code: 'lost' });
  }
}
