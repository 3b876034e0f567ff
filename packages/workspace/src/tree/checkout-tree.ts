import { type BigIntStats, mkdirSync } from 'node:fs';
import * as files from '../files/index.ts';
import { type Entry, type Folder, hashLargeBlob, isFolder, isSame, objectId } from '../store/objects/index.ts';
import { gitPermissions, keptBits, kindOf, permissionsAt } from './permissions.ts';
import { type Scan, scanEntry } from './scan.ts';
import { type Checkout, type WantedFile, writeLeaves } from './write-leaves.ts';

/** A sink without storage. */
export const hashOnly: Scan['content'] = {
  blob: (content) => objectId('blob', content),
  largeBlob: hashLargeBlob,
  has: () => true,
  backpressure: () => undefined,
};

/**
 * Makes the tree equal to `target`: removes entries missing in `target`, then writes the differences. A second call after an interruption
 * ends in the same state.
 */
export async function checkoutTree(checkout: Checkout, target: Folder): Promise<void> {
  const wanted: WantedFile[] = [];
  using top = files.openTree(checkout.tree);
  await checkoutFolder(checkout, { directory: top, path: '', wanted, known: checkout.known?.root }, target);
  await writeLeaves(checkout, { top, wanted });
}

async function checkoutFolder(
  checkout: Checkout,
  at: { directory: files.Directory; path: string; wanted: WantedFile[]; known: Entry | undefined },
  target: Folder,
): Promise<void> {
  const { directory, wanted } = at;
  const { maybeYield } = checkout.scan;
  const hides = checkout.hides ?? files.isDotGit;
  const keep: files.Keep = (entry, status) => hides(entry.name) || checkout.keep(entry.path, status);
  for (const name of new Set([...files.namesIn(directory), ...target.entries.keys()])) {
    const path = files.join(at.path, name);
    const known = isFolder(at.known) ? at.known.entries.get(name) : undefined;
    if (isRight(checkout, path, known, target.entries.get(name))) continue;
    const status = files.statIn(directory, name);
    if (hides(name) || (status !== undefined && checkout.keep(path, status))) continue;
    const entry = target.entries.get(name);
    if (entry === undefined) await files.removeEntry({ maybeYield, keep }, { directory, name, path });
    else await checkoutEntry(checkout, { directory, name, path, known }, { status, wanted }, entry);
    const pause = maybeYield();
    if (pause !== undefined) await pause;
  }
}

/** Whether an entry is known to equal the target's entry, and so needs no read. */
function isRight({ known }: Checkout, path: string, there: Entry | undefined, target: Entry | undefined): boolean {
  return known !== undefined && there !== undefined && isSameTree(there, target) && !known.isUnsure(path);
}

function isSameTree(a: Entry, b: Entry | undefined): boolean {
  if (isSame(a, b)) return true;
  if (!isFolder(a) || !isFolder(b) || a.entries.size !== b.entries.size) return false;
  for (const [name, entry] of a.entries) if (!isSameTree(entry, b.entries.get(name))) return false;
  return true;
}

async function checkoutEntry(
  checkout: Checkout,
  at: files.EntryAt & { known: Entry | undefined },
  { status, wanted }: { status: BigIntStats | undefined; wanted: WantedFile[] },
  target: Entry,
): Promise<void> {
  const isDirectory = status?.isDirectory() === true;
  const kind = kindOf(target);
  const bits = kind === undefined ? 0 : permissionsAt(checkout.permissions ?? gitPermissions, at.path, kind);
  if (isFolder(target)) {
    if (status !== undefined && !isDirectory) await files.removeEntry(checkout.scan, at);
    if (!isDirectory) mkdirSync(at.directory.at(at.name), 0o755);
    using directory = files.openForOwner(at.directory, at.name);
    if (status === undefined || !isDirectory) files.setFolderOwner(directory.fd, checkout.owner, bits);
    else if (keptBits(status.mode, 'folder') !== bits) files.setFolderOwner(directory.fd, undefined, bits);
    // Awaited here, while the directory is open.
    return await checkoutFolder(checkout, { directory, path: at.path, wanted, known: at.known }, target);
  }
  // A rename replaces anything but a directory.
  if (isDirectory) await files.removeEntry(checkout.scan, at);
  else if (
    status !== undefined &&
    isSame(await scanEntry(checkout.scanAt?.(at.path) ?? checkout.scan, at, undefined), target)
  ) {
    if (kind === undefined || keptBits(status.mode, kind) === bits) return;
  }
  wanted.push({ path: at.path, leaf: target, bits });
}
