import { z } from 'zod';

/** Pointer files of git-lfs: the content lies on a server. */
export const lfsPointersSchema = z.strictObject({
  files: z.int().describe('How many there are'),
  paths: z.array(z.string()).describe('The first 50'),
});
export type LfsPointers = z.infer<typeof lfsPointersSchema>;

/** Content of a git source without a copy in the workspace. */
export const absentContentSchema = z.strictObject({
  submodules: z.array(z.string()).describe('Paths of submodules, which are empty folders; the first 50'),
  lfs_pointers: lfsPointersSchema.optional().describe('Files under git-lfs: the workspace has their pointers'),
});
export type AbsentContent = z.infer<typeof absentContentSchema>;

/** So many paths of each kind are named. */
export const mostAbsentPaths = 50;

/** @returns undefined when nothing is absent */
export function absentContent(made: {
  submodules?: readonly { path: string }[] | undefined;
  lfs_pointers?: LfsPointers | undefined;
}): AbsentContent | undefined {
  const submodules = (made.submodules ?? []).slice(0, mostAbsentPaths).map(({ path }) => path);
  const { lfs_pointers } = made;
  if (submodules.length === 0 && lfs_pointers === undefined) return undefined;
  return { submodules, ...(lfs_pointers && { lfs_pointers }) };
}
