import { isUtf8 } from 'node:buffer';
import type { Conflict, FileVersion } from '@holdpoint/contract';
import type { Deps, RunFolder, WorkspaceRecord } from '../deps.ts';
import { streamBlobs } from '../host-git/stream-blobs.ts';
import { type Leaf, modes, type ObjectWriter, writeRef } from '../store/objects/index.ts';

/** Largest text of a version, bytes. */
export const largestText = 64 * 1024;
/** All texts of a plan together, bytes: a plan is stored and sent as a whole. */
const mostText = 8 * 1024 * 1024;

/** Remaining bytes of text permitted in a plan. */
export interface TextBudget {
  left: number;
}

export const createTextBudget = (): TextBudget => ({ left: mostText });

/** Reads the versions of conflicting files for a person. */
export async function readVersions(
  deps: Pick<Deps, 'git'>,
  input: { gitDir: string; leaves: readonly (Leaf | null)[]; budget: TextBudget },
): Promise<(leaf: Leaf | null) => FileVersion | null> {
  const { gitDir, leaves, budget } = input;
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
      end: () => {
        const text = size <= largestText ? textOf(Buffer.concat(pieces), budget) : null;
        found.set(current, { bytes: size, text });
      },
    },
  );
  return (leaf) => leaf && versionOf(leaf, found.get(leaf.oid) ?? { bytes: 0, text: null });
}

export function versionOf({ mode, oid }: Leaf, content: { bytes: number; text: string | null }): FileVersion {
  return { mode: mode.toString(8), oid, ...content };
}

/** The content as text; null for other content and for overlong text. */
export function textOf(content: Buffer, budget: TextBudget): string | null {
  const isShown = content.length <= Math.min(largestText, budget.left) && isUtf8(content) && !content.includes(0);
  if (!isShown) return null;
  budget.left -= content.length;
  return content.toString('utf8');
}

/** All oids of the versions shown by a conflict. */
export const oidsOf = ({ versions }: Conflict): string[] =>
  [versions?.base, versions?.source, versions?.run].flatMap((version) => (version ? [version.oid] : []));

/** Points at the versions of the files in the last conflict. */
const conflictRef = 'refs/holdpoint/conflict';

/**
 * Keeps the versions of files in conflict in the shadow repository: a person can read them until the decision on the publish, even after a
 * change of the source.
 */
export async function keepConflicts(
  { folder, record, writer }: { folder: RunFolder; record: WorkspaceRecord; writer: ObjectWriter },
  oids: Iterable<string>,
): Promise<void> {
  const entries = new Map([...oids].map((oid): [string, Leaf] => [oid, { mode: modes.file, oid }]));
  if (entries.size === 0) return;
  const tree = await writer.root({ entries });
  const commit = writer.commit({ tree, parent: null, seconds: record.created_at, message: 'versions in conflict' });
  await writer.flush();
  await writeRef(folder.shadow, conflictRef, commit);
}
