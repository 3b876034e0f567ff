import { randomUUIDv7 } from 'node:crypto';
import { type IdKind, idPrefixes } from '@holdpoint/contract';

/** Creates ids. Passed in, so that a test can choose them. */
export type NewId = (kind: IdKind) => string;

/**
 * `run_…`, `step_…`, `apr_…`, `task_…`, `msg_…`, `evt_…` followed by a UUIDv7: ids of one kind sort by their time.
 *
 * @param now the clock that all processes share. By the clock of a computer that is behind, an id would be old at once, and an index entry
 * whose append is still to come would count as abandoned (`isAbandoned`)
 */
export const newIdBy =
  (now: () => number): NewId =>
  (kind) => {
    const time = now().toString(16).padStart(12, '0');
    return `${idPrefixes[kind]}_${time.slice(0, 8)}-${time.slice(8)}${randomUUIDv7().slice(13)}`;
  };

/** By the clock of this computer. */
export const newId: NewId = newIdBy(Date.now);
