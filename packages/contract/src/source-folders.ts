import { z } from 'zod';

const folderSchema = z
  .string()
  .min(1)
  .max(1000)
  .regex(/^[^\p{Cc}]*$/u, 'expected no control characters')
  .superRefine((path, context) => {
    const names = path.split('/');
    const issue = (message: string) => context.addIssue({ code: 'custom', message });
    if (path.startsWith('/')) return issue('expected a path relative to the source');
    if (names.some((name) => ['', '.', '..'].includes(name))) {
      return issue('expected names with single slashes between them, without "." and ".."');
    }
    if (names.some((name) => name.toLowerCase() === '.git')) issue('no repository can be shown');
  });

const isBelow = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);

/** Folders of a source on this host, visible to a run read-only at the same place, without a copy. */
export const sourceFoldersSchema = z
  .array(folderSchema)
  .min(1)
  .max(50)
  .superRefine((paths, context) => {
    for (const [index, path] of paths.entries()) {
      const other = paths.find((one, at) => at !== index && (isBelow(path, one) || isBelow(one, path)));
      if (other === undefined) continue;
      context.addIssue({ code: 'custom', path: [index], message: `overlaps ${JSON.stringify(other)}` });
    }
  })
  .describe(
    'Folders of the source that are not part of the files of the run, such as `node_modules`: commands and tools see them at the same place, read-only and as they are at the source',
  );

/** A folder of the run's source, visible to the run's sandboxes read-only at the same place. */
export interface SourceFolder {
  /** Relative to the workspace. */
  path: string;
  /** Its real path on the host, without links. */
  host: string;
  /** Device, inode and birth time (ns) with commas between. Another folder in the same place has another identity. */
  identity: string;
}
