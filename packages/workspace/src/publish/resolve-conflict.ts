import type { Resolution } from '@holdpoint/contract';
import type { Deps, ObjectWriter } from '../deps.ts';
import type { Leaf } from '../store/objects/index.ts';
import { isByLines, mergeByLines, mergedMode, type Versions } from './merge/conflict-lines.ts';

interface Conflicting {
  /** The shadow repository. */
  gitDir: string;
  writer: ObjectWriter;
  versions: Versions;
  /** Stores the source's version in the shadow repository, where the source is a directory. @default the version is there */
  storeSource?: () => Promise<void>;
}

/**
 * Applies a person's resolution to a conflict; undefined without a resolution, for a resolution of an older version of the source, or when
 * its choices by lines do not fit the versions.
 */
export async function resolveConflict(
  deps: Pick<Deps, 'git'>,
  resolution: Resolution | undefined,
  { gitDir, writer, versions, storeSource = async () => {} }: Conflicting,
): Promise<{ leaf: Leaf | null } | undefined> {
  const { source, run } = versions;
  if (resolution === undefined || resolution.seen !== (source?.oid ?? null)) return undefined;
  const mode = mergedMode(versions);
  if (isByLines(resolution)) {
    await storeSource();
    await writer.flush();
    const content = await mergeByLines(deps, { gitDir, versions, resolution });
    return content && { leaf: { mode, oid: writer.blob(content) } };
  }
  switch (resolution.take) {
    case 'run':
      return { leaf: run };
    case 'source':
      return { leaf: source };
    case 'text':
      return { leaf: { mode, oid: writer.blob(Buffer.from(resolution.text)) } };
    default:
      throw resolution satisfies never;
  }
}
