import { createHash, type Hash } from 'node:crypto';
import { statSync } from 'node:fs';
import type { Call, Deps } from '../deps.ts';
import { streamBlobs } from '../host-git/stream-blobs.ts';
import { requireRecord, runFolder, type WorkspaceRecord } from '../run-folder/index.ts';
import { createSelection } from '../source/import-context.ts';
import { loadSnapshot } from '../tree/index.ts';
import { bindingOf, filesIn, installed, refOf, wellKnown } from './binding.ts';

/**
 * The digest of the inputs of `prepare`: the source, its ref and all of its files; where the operator names inputs, the source and these files, as
 * well as the files of committed dependency folders.
 * @param input.globs of the run, added to the operator's globs
 */
export async function inputDigest(deps: Deps, input: Call<'inputDigest'>): Promise<string> {
  const folder = runFolder(deps.dataDir, input.runId);
  const record = requireRecord(folder);
  const snapshot = await loadSnapshot(deps, { folder, state: deps.states.of(folder), id: input.snapshot });
  const binding = await bindingOf(deps, { folder, snapshot });
  const named = [...(deps.preparedInputs ?? wellKnown), ...(input.globs ?? [])];
  const found = filesIn(snapshot.root, createSelection({ include: [...named, ...installed] }).has);
  const digests = await contentDigests(deps, folder.shadow, [...new Set(found.map(({ leaf }) => leaf.oid))]);
  const whole = binding === 'tree' ? { tree: snapshot.tree, ref: refOf(record) } : {};
  const hash = createHash('sha256').update(JSON.stringify({ source: identityOf(record), ...whole }));
  for (const { path, leaf } of found) hash.update(JSON.stringify([path, leaf.mode, digests.get(leaf.oid)]));
  return hash.digest('hex');
}

/** The inputs named by an operator: globs, and `manifests` for the well-known files. @throws WorkspaceError EGLOBINVALID */
export function namedInputs(globs: readonly string[]): readonly string[] {
  const named = globs.flatMap((glob) => (glob === 'manifests' ? wellKnown : [glob]));
  checkInputs(named);
  return named;
}

/** @throws WorkspaceError EGLOBINVALID */
export const checkInputs = (globs: readonly string[]): void => void createSelection({ include: globs });

/** Two paths to the same directory are the same source, and another directory at the path is another source. */
function identityOf({ source, origin }: WorkspaceRecord): unknown[] {
  const status = origin === null ? undefined : statSync(origin, { bigint: true, throwIfNoEntry: false });
  const place = status === undefined ? [origin] : [String(status.dev), String(status.ino)];
  const globs = source.type === 'empty' ? [] : [source.include ?? null, source.exclude ?? null];
  return [source.type, ...place, ...globs];
}

/** SHA-256, because the author of the files could make two blobs with the same SHA-1. */
async function contentDigests(deps: Deps, gitDir: string, oids: readonly string[]): Promise<Map<string, string>> {
  const digests = new Map<string, string>();
  let hash: Hash = createHash('sha256');
  let current = '';
  await streamBlobs(
    deps,
    { gitDir, oids },
    {
      begin: (index) => {
        current = oids[index] ?? '';
        hash = createHash('sha256');
      },
      piece: (bytes) => void hash.update(bytes),
      end: () => void digests.set(current, hash.digest('hex')),
    },
  );
  return digests;
}
