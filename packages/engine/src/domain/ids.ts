import { randomUUIDv7 } from 'node:crypto';
import { z } from 'zod';

const prefixes = { run: 'run', step: 'step', approval: 'apr', task: 'task', message: 'msg', event: 'evt' } as const;

/** Makes ids. Passed in, so that a test can name its own. */
export type NewId = (kind: keyof typeof prefixes) => string;

/** `run_…`, `step_…`, `apr_…`, `task_…`, `msg_…`, `evt_…` followed by a UUIDv7: ids of one kind sort by the time they were made. */
export const newId: NewId = (kind) => `${prefixes[kind]}_${randomUUIDv7()}`;

/** Steps, approvals and tasks share one index of owners: the id says which of them is meant. */
export const isIdOf = (kind: keyof typeof prefixes, id: string): boolean => id.startsWith(`${prefixes[kind]}_`);

const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';
const idSchema = (prefix: string) =>
  z.string().regex(new RegExp(`^${prefix}_${uuid}$`), `expected ${prefix}_ and a UUIDv7, as the API returned it`);

export const runIdSchema = idSchema(prefixes.run);
export const stepIdSchema = idSchema(prefixes.step);
export const approvalIdSchema = idSchema(prefixes.approval);
export const taskIdSchema = idSchema(prefixes.task);
export const messageIdSchema = idSchema(prefixes.message);

/** The hex SHA-1 of a commit in a run's shadow repository. */
export const snapshotIdSchema = z.string().regex(/^[0-9a-f]{40}$/);
