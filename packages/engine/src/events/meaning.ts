import type { EventOf, EventType, RunEvent } from '@holdpoint/contract';
import type { StateChanges } from '../domain/state-changes.ts';
import type { StateFields } from '../domain/state-fields.ts';
import type { Audit } from '../records/audit.ts';
import type { TraceState } from '../spans/trace-state.ts';

export * from '@holdpoint/contract/names';
export * from '../records/approval-facts.ts';
export { noAudit } from '../records/audit.ts';
export * from '../records/audit-text.ts';
export * from '../records/call-facts.ts';
export * from '../records/call-record.ts';
export * from '../records/network-facts.ts';
export * from '../records/run-facts.ts';
export * from '../records/run-record.ts';
export * from '../spans/connections.ts';
export * from '../spans/content.ts';
export * from '../spans/created-run.ts';
export * from '../spans/ids.ts';
export * from '../spans/model-requests.ts';
export * from '../spans/publish-parts.ts';
export * from '../spans/segments.ts';
export * from '../spans/spans.ts';
export * from '../spans/step-parts.ts';
export * from '../spans/workspace-parts.ts';

/**
 * The effects of an event type: a file for each, beside the file with its schema in `packages/contract/src/events`. The file imports no schema,
 * because threads load it: the cells of the state come as an argument.
 */
interface MeaningOf<Event extends RunEvent> {
  /** Changes the state of the run. Appending applies the changes, and folding a log applies them again. */
  changes: (state: StateChanges, event: Event, fields: StateFields) => void;
  /** Begins, changes and ends spans. */
  span: (trace: TraceState, event: Event & { seq: number }) => void;
  audit: Audit<Event>;
}

export type Meaning<Type extends EventType> = MeaningOf<EventOf<Type>>;

/** For events without an effect on the state. */
export const noChange = (): void => {};

/** For events that no span shows. */
export const noSpan = (): void => {};
