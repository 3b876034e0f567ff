import { isUtf8 } from 'node:buffer';
import type { Deps } from '../deps.ts';
import { streamBlobs } from '../host-git/stream-blobs.ts';
import type { FileVersion } from '../port.ts';
import type { Leaf } from '../tree/tree.ts';

const largestText = 64 * 1024;

/** Files of a repository as a person sees them in a conflict, by object id. */
export async function readVersions(
  deps: Pick<Deps, 'git'>,
  gitDir: string,
  leaves: readonly (Leaf | null)[],
): Promise<(leaf: Leaf | null) => FileVersion | null> {
  const oids = [...new Set(leaves.flatMap((leaf) => (leaf === null ? [] : [leaf.oid])))];
  const found = new Map<string, { bytes: number; text: string | null }>();
  let size = 0;
  let pieces: Buffer[] = [];
  let current = '';
  await streamBlobs(
    deps,
    { gitDir, oids },
    {
      begin: (index, bytes) => {
        current = oids[index] ?? '';
        size = bytes;
        pieces = [];
      },
      piece: (bytes) => {
        if (size <= largestText) pieces.push(Buffer.from(bytes));
      },
      end: () =>
        void found.set(current, { bytes: size, text: size <= largestText ? toText(Buffer.concat(pieces)) : null }),
    },
  );
  return (leaf) => leaf && versionOf(leaf, found.get(leaf.oid) ?? { bytes: 0, text: null });
}

export function versionOf(leaf: Leaf, content: { bytes: number; text: string | null }): FileVersion {
  return { mode: leaf.mode.toString(8), oid: leaf.oid, ...content };
}

/** The content as text; null when it is none, or too long to be shown. */
export function toText(content: Buffer): string | null {
  return content.length <= largestText && isUtf8(content) && !content.includes(0) ? content.toString('utf8') : null;
}
