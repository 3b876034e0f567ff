import { randomUUIDv7 } from 'node:crypto';
import { type IdKind, idPrefixes } from '@holdpoint/contract';

/** Creates ids. Passed in, so a test can choose the ids. */
export type NewId = (kind: IdKind) => string;

/**
 * `run_…`, `step_…`, `apr_…`, `task_…`, `msg_…`, `evt_…` followed by a UUIDv7: ids of a kind sort by their time.
 *
 * @param now the clock shared by all processes. By the slow clock of a single computer, a new id would look old at once, and an index entry
 * before its append would count as abandoned (`isAbandoned`)
 */
export const newIdBy =
  (now: () => number): NewId =>
  (kind) => {
    const time = now().toString(16).padStart(12, '0');
    return `${idPrefixes[kind]}_${time.slice(0, 8)}-${time.slice(8)}${randomUUIDv7().slice(13)}`;
  };

/** By the clock of this computer. */
export const newId: NewId = newIdBy(Date.now);
