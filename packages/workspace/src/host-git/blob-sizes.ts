import { WorkspaceError } from '../errors.ts';
import type { Git } from './git.ts';

/** Sizes of blobs in bytes, by id. */
export async function blobSizes(
  deps: { git: Git },
  input: { gitDir: string; oids: Iterable<string> },
): Promise<Map<string, number>> {
  const oids = [...new Set(input.oids)];
  if (oids.length === 0) return new Map();
  const args = [`--git-dir=${input.gitDir}`, 'cat-file', '--buffer', '--batch-check=%(objectsize)'];
  const { stdout } = await deps.git.run(args, { input: `${oids.join('\n')}\n`, maxBytes: 256 * 1024 * 1024 });
  const rows = stdout.toString('latin1').split('\n');
  return new Map(
    oids.map((oid, index) => {
      const size = Number(rows[index]);
      if (rows[index] === '' || !Number.isSafeInteger(size)) {
        throw new WorkspaceError('EWORKSPACECORRUPT', `Blob ${oid} is not in the shadow repository: ${rows[index]}`);
      }
      return [oid, size];
    }),
  );
}
