import { z } from 'zod';
import { idPrefixes } from './id-prefixes.ts';

export type IdKind = keyof typeof idPrefixes;

/** Steps, approvals and tasks share an index of owners: the prefix distinguishes them. */
export const isIdOf = (kind: IdKind, id: string): boolean => id.startsWith(`${idPrefixes[kind]}_`);

const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';
const idSchema = (prefix: string) =>
  z.string().regex(new RegExp(`^${prefix}_${uuid}$`), `expected ${prefix}_ and a UUIDv7, as the API returned it`);

export const runIdSchema = idSchema(idPrefixes.run);
export const stepIdSchema = idSchema(idPrefixes.step);
export const approvalIdSchema = idSchema(idPrefixes.approval);
export const ruleIdSchema = idSchema(idPrefixes.rule);
export const taskIdSchema = idSchema(idPrefixes.task);
export const keyIdSchema = idSchema(idPrefixes.key);
export const messageIdSchema = idSchema(idPrefixes.message);

/** The hex SHA-1 of a commit in a run's shadow repository. */
export const snapshotIdSchema = z.string().regex(/^[0-9a-f]{40}$/);
