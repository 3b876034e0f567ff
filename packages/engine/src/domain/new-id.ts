import { randomUUIDv7 } from 'node:crypto';
import { type IdKind, idPrefixes } from '@holdpoint/contract';

/** Creates ids. Passed in, so that a test can choose them. */
export type NewId = (kind: IdKind) => string;

/** `run_…`, `step_…`, `apr_…`, `task_…`, `msg_…`, `evt_…` followed by a UUIDv7: ids of one kind sort by their time. */
export const newId: NewId = (kind) => `${idPrefixes[kind]}_${randomUUIDv7()}`;
