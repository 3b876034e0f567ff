import { attribute, general, linkType, spanName } from '@holdpoint/contract/names';
import type { PublicationEvent } from '../domain/changes/publication.ts';
import { spanKeys } from './ids.ts';
import { linkTo } from './segments.ts';
import { close, note, open, type SpanEnd, set } from './spans.ts';
import type { SpansOf } from './spans-of.ts';
import type { TraceState } from './trace-state.ts';

/** A publish follows an ended run, perhaps days later. Its span is a sibling of the run's span, and links to the run. */
export const publishSpans: SpansOf<PublicationEvent | 'workspace.validating'> = {
  'workspace.publish_requested': (trace, { data }) => begin(trace, data.number, data.snapshot),
  'workspace.validating': (trace, { seq, data }) => {
    endValidation(trace, { code: 'lost' });
    open(trace, spanKeys.at('validate', seq), {
      kind: 'publish',
      name: spanName.validate,
      parent: publishKey(trace),
      attributes: { [attribute.snapshot]: data.snapshot },
    });
  },
  'workspace.validated': (trace, { data }) => {
    const results = 'json' in data.results ? data.results.json : undefined;
    set(trace, publishKey(trace), { [attribute.validatorsPassed]: data.passed });
    const attributes = {
      [attribute.validatorsPassed]: data.passed,
      [attribute.validators]: Array.isArray(results) ? results.length : undefined,
    };
    endValidation(trace, { status: data.passed ? 'ok' : 'error', attributes });
  },
  'workspace.publish_released': (trace) => note(trace, publishKey(trace), 'publish released'),
  'workspace.publish_rejected': (trace, { data }) => end(trace, 'rejected', { code: data.reason.code }),
  'workspace.publish_failed': (trace, { data }) => end(trace, 'failed', { status: 'error', code: data.reason.code }),
  'workspace.published': (trace) => end(trace, 'published', { status: 'ok' }),
  'workspace.conflicted': (trace, { data }) => {
    const attributes = { [attribute.conflicts]: data.conflicts.length };
    // The same append asks a person, and the publish continues with the person's decision.
    if (data.parked) {
      set(trace, publishKey(trace), attributes);
      note(trace, publishKey(trace), 'publish conflicted', attributes);
    } else end(trace, 'conflicted', { status: 'error', code: 'conflict', attributes });
  },
  'workspace.discard_requested': (trace, { seq }) => {
    end(trace, 'discarded', {});
    const attributes = { [attribute.workspaceAction]: 'discard' };
    open(trace, spanKeys.at('discard', seq), { kind: 'workspace', name: spanName.workspace('discard'), attributes });
  },
  'workspace.discarded': (trace) => {
    for (const [key, { attributes }] of trace.open) {
      if (attributes[attribute.workspaceAction] === 'discard') close(trace, key, { status: 'ok' });
    }
  },
};

const publishKey = (trace: TraceState): string => spanKeys.publish(trace.publishes);

function begin(trace: TraceState, number: number | undefined, snapshot: string): void {
  end(trace, 'replaced', {});
  trace.publishes = number ?? trace.publishes + 1;
  open(trace, publishKey(trace), {
    kind: 'publish',
    name: spanName.publish,
    attributes: { [attribute.snapshot]: snapshot },
    links: [linkTo(trace, spanKeys.run(trace.life), linkType.run)],
  });
}

function end(trace: TraceState, outcome: string, { attributes, ...rest }: SpanEnd): void {
  const error = { [general.errorType]: rest.code };
  close(trace, publishKey(trace), {
    ...rest,
    attributes: { ...attributes, ...error, [attribute.publishOutcome]: outcome },
  });
}

function endValidation(trace: TraceState, how: SpanEnd): void {
  for (const [key, { name }] of trace.open) if (name === spanName.validate) close(trace, key, how);
}
