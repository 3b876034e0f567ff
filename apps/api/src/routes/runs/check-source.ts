import { isRemote, type Source, sourceFoldersOf, toPointer } from '@holdpoint/contract';
import { WorkspaceError, type WorkspaceErrorCode } from '@holdpoint/workspace';
import type { ApiDeps } from '../../deps.ts';
import { PlacedError } from '../../errors/placed-error.ts';

type Deps = Pick<ApiDeps, 'workspaces'>;

/** The source of a run, at `/workspace/source` of the request. @throws WorkspaceError, with its place */
export async function checkSource(deps: Deps, source: Source): Promise<void> {
  try {
    await deps.workspaces.check(source);
  } catch (error) {
    if (!(error instanceof WorkspaceError)) throw error;
    const pointer = toPointer(['workspace', 'source', ...(await placeOf(deps, source, error.code))]);
    throw new PlacedError(error, [{ pointer, detail: error.message }]);
  }
}

async function placeOf(deps: Deps, source: Source, code: WorkspaceErrorCode): Promise<(string | number)[]> {
  if (code === 'EREFUNKNOWN') return ['ref'];
  if (code === 'EGLOBINVALID' && source.type !== 'empty') return findGlob(deps, source);
  if (code === 'ESOURCEFOLDER') return findFolder(deps, source);
  return [isRemote(source) ? 'url' : 'path'];
}

/** The first folder of `with` refused even alone. */
async function findFolder({ workspaces }: Deps, source: Source): Promise<(string | number)[]> {
  for (const [index, folder] of sourceFoldersOf(source).entries()) {
    const alone = { ...source, with: [folder] } as Source;
    const refused = await workspaces.check(alone).then(
      () => false,
      (error: unknown) => error instanceof WorkspaceError && error.code === 'ESOURCEFOLDER',
    );
    if (refused) return ['with', index];
  }
  return ['with'];
}

/** The first glob refused even alone. */
async function findGlob(
  { workspaces }: Deps,
  source: Exclude<Source, { type: 'empty' }>,
): Promise<(string | number)[]> {
  const { include = [], exclude = [] } = source;
  for (const [field, globs] of Object.entries({ include, exclude })) {
    for (const [index, glob] of globs.entries()) {
      const refused = await workspaces.check({ ...source, include: [glob], exclude: [] }).then(
        () => false,
        (error: unknown) => error instanceof WorkspaceError && error.code === 'EGLOBINVALID',
      );
      if (refused) return [field, index];
    }
  }
  return [];
}
