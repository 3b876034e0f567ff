import type { EventOf, EventType, RunEvent } from '@holdpoint/contract';
import type { StateChanges } from '../domain/state-changes.ts';
import type { StateFields } from '../domain/state-fields.ts';
import type { Audit } from '../records/run-record.ts';
import type { TraceState } from '../spans/ids.ts';

export * from '@holdpoint/contract/names';
export * from '../records/approval-facts.ts';
export * from '../records/audit-text.ts';
export * from '../records/call-facts.ts';
export * from '../records/call-record.ts';
export * from '../records/network-facts.ts';
export * from '../records/run-facts.ts';
export * from '../records/run-record.ts';
export { noAudit } from '../records/run-record.ts';
export * from '../spans/connections.ts';
export * from '../spans/content.ts';
export * from '../spans/created-run.ts';
export * from '../spans/ids.ts';
export * from '../spans/model-requests.ts';
export * from '../spans/publish-parts.ts';
export * from '../spans/segments.ts';
export * from '../spans/spans.ts';
export * from '../spans/step-parts.ts';
export * from '../spans/turns.ts';
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

/**
 * The snapshot that an event makes. The state, the audit log and the list of the run's snapshots take the snapshot from here. The compiler
 * requires it of each event whose data has a snapshot and its parent.
 */
type Made<Event> = [Event] extends [{ data: { snapshot: string; parent: string } }]
  ? { snapshot: (event: Event) => MadeSnapshot }
  : { snapshot?: (event: Event) => MadeSnapshot };

export type Meaning<Type extends EventType> = MeaningOf<EventOf<Type>> & Made<EventOf<Type>>;

export interface MadeSnapshot {
  id: string;
  /** Null for the first snapshot of the run. */
  parent: string | null;
  /** Null: no step and no task made the snapshot. */
  by: { step: string } | { task: string } | null;
  /** Against the parent. For the first snapshot: the number of regular files. */
  files_changed: number;
}

/** The snapshot of an event with a parent. */
export const madeSnapshot = (
  { snapshot, parent, files_changed }: { snapshot: string; parent: string; files_changed: number },
  by: MadeSnapshot['by'],
): MadeSnapshot => ({ id: snapshot, parent, by, files_changed });

/** For events without an effect on the state. */
export const noChange = (): void => {};

/** For events that no span shows. */
export const noSpan = (): void => {};
