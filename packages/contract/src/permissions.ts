import { z } from 'zod';

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

export const modesSchema = z.strictObject({
  read_only: z.boolean().default(false).describe('Calls that write are denied'),
  dry_run: z.boolean().default(false).describe('Nothing changes; what would change comes back as a diff'),
  deterministic: z
    .boolean()
    .default(false)
    .describe('Fixed clock, seeded randomness, no network: the same input gives the same bytes'),
});
export type Modes = z.infer<typeof modesSchema>;
