import type { Resolution } from '@holdpoint/contract';
import type { ObjectWriter } from '../git-objects/object-writer.ts';
import { type Leaf, type Mode, modes } from '../tree/tree.ts';

interface Versions {
  source: Leaf | null;
  run: Leaf | null;
}

/**
 * What a person wants of a file in conflict. Undefined when they said nothing, or spoke of another version of the source than the one
 * that is there now.
 */
export function resolve(
  resolution: Resolution | undefined,
  { source, run }: Versions,
  writer: ObjectWriter,
): { leaf: Leaf | null } | undefined {
  if (resolution === undefined || resolution.seen !== (source?.oid ?? null)) return undefined;
  switch (resolution.take) {
    case 'run':
      return { leaf: run };
    case 'source':
      return { leaf: source };
    case 'text':
      return { leaf: { mode: plainMode(run ?? source), oid: writer.blob(Buffer.from(resolution.text)) } };
    default:
      throw resolution satisfies never;
  }
}

const plainMode = (like: Leaf | null): Mode => (like?.mode === modes.executable ? modes.executable : modes.file);
