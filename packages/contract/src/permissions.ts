import { z } from 'zod';
import { nearestNames } from './nearest-names.ts';

/** The kinds of permission, with the form of each. */
export const permissionForms = {
  'fs:read': '`fs:read` or `fs:read:GLOB`',
  'fs:write': '`fs:write` or `fs:write:GLOB`; it includes deleting',
  exec: '`exec:PROGRAM`, or `exec:*` for any command',
  net: '`net:HOST`, `net:*.HOST`, with `:PORT` where it is neither 80 nor 443, or `net:*` for any host',
  'graph:read': '`graph:read`',
} as const;
export type PermissionKind = keyof typeof permissionForms;

export const permissionsSchema = z
  .array(z.string().min(1).max(300))
  .max(200)
  .describe(
    `What the tools of the run may do. Without it there is no limit beside the policy. Forms: ${Object.values(permissionForms).join(', ')}`,
  );

export const protectedPathsSchema = z
  .array(z.string().min(1).max(500))
  .max(200)
  .describe('Globs of paths that are never written or deleted, whatever the policy and the permissions say');

const modeTexts = {
  read_only: 'Calls that write are denied, and commands see the workspace read-only',
  dry_run: 'Nothing is published and no external effect is made; what would change comes back as a diff',
  plan: 'Nothing is changed until a person approves a plan of the run: calls that write are denied, and commands see the workspace read-only. `false` after the approval',
  deterministic: 'Fixed clock, seeded randomness, no network: the same input gives the same bytes',
};
const modeNames = Object.keys(modeTexts) as (keyof typeof modeTexts)[];

/** The error for an unknown mode names the nearest known mode. */
const unknownMode: z.core.$ZodErrorMap<z.core.$ZodIssueUnrecognizedKeys | z.core.$ZodIssueInvalidType> = (issue) => {
  if (issue.code !== 'unrecognized_keys') return undefined;
  const [unknown = ''] = issue.keys as string[];
  const [near = modeNames[0]] = nearestNames(unknown, modeNames);
  return `there is no mode ${unknown}. Nearest: ${near}`;
};

const mode = (name: keyof typeof modeTexts) => z.boolean().default(false).describe(modeTexts[name]);

const givenMode = (name: keyof typeof modeTexts) => z.boolean().optional().describe(modeTexts[name]);

export const modesSchema = z.strictObject(
  {
    read_only: mode('read_only'),
    dry_run: mode('dry_run'),
    deterministic: mode('deterministic'),
    plan: givenMode('plan'),
  },
  { error: unknownMode as z.core.$ZodErrorMap },
);
export type Modes = z.infer<typeof modesSchema>;

/** Whether the calls of a run only read: in a read-only run, and in plan mode until a person approves the plan. */
export const readsOnly = ({ read_only, plan }: Pick<Modes, 'read_only' | 'plan'>): boolean =>
  read_only || plan === true;

/** Modes in a request: an absent mode is inherited. */
export const givenModesSchema = z.strictObject(
  {
    read_only: givenMode('read_only'),
    dry_run: givenMode('dry_run'),
    deterministic: givenMode('deterministic'),
    plan: givenMode('plan'),
  },
  { error: unknownMode as z.core.$ZodErrorMap },
);

/** The permissions of a run apart from its policy. */
export const grantsShape = {
  permissions: permissionsSchema.optional(),
  protected: protectedPathsSchema.default([]),
  modes: modesSchema.prefault({}),
};

/** The same permissions for an heir: absent fields keep their values, and nothing is widened. */
export const narrowedShape = {
  permissions: permissionsSchema.optional(),
  protected: protectedPathsSchema.optional(),
  modes: givenModesSchema.optional(),
};

/** The clock of a deterministic run stands still at this moment, in milliseconds since the epoch. */
export const fixedTime = Date.UTC(2000, 0, 1);
