import { attribute, general, linkType, spanName } from '@holdpoint/contract/names';
import { spanKeys, type TraceState } from './ids.ts';
import { close, linkTo, open, type SpanEnd } from './spans.ts';

/** A publish follows an ended run, perhaps days later. Its span is a sibling of the run's span, and links to the run. */
export function beginPublish(trace: TraceState, number: number | undefined, snapshot: string): void {
  endPublish(trace, 'replaced', {});
  trace.publishes = number ?? trace.publishes + 1;
  open(trace, spanKeys.publish(trace.publishes), {
    kind: 'publish',
    name: spanName.publish,
    attributes: { [attribute.snapshot]: snapshot },
    links: [linkTo(trace, spanKeys.run(trace.life), linkType.run)],
  });
}

export function endPublish(trace: TraceState, outcome: string, { attributes, ...rest }: SpanEnd): void {
  const error = { [general.errorType]: rest.code };
  close(trace, spanKeys.publish(trace.publishes), {
    ...rest,
    attributes: { ...attributes, ...error, [attribute.publishOutcome]: outcome },
  });
}

export function endValidation(trace: TraceState, how: SpanEnd): void {
  for (const [key, { name }] of trace.open) if (name === spanName.validate) close(trace, key, how);
}
