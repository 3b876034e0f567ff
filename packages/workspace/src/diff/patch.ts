import { isUtf8 } from 'node:buffer';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Deps, type DiffRequest, WorkspaceError } from '../deps.ts';
import { toText, writeDurably } from '../files/index.ts';
import { diffTree } from '../host-git/diff-tree.ts';
import { blobSizes } from '../host-git/stream-blobs.ts';
import type { Change } from '../store/objects/index.ts';
import { type Review, reviewChanges } from './review.ts';
import { nameDamaged } from './unreadable.ts';

/**
 * A patch for `git apply`. The patch is UTF-8, so a file with other bytes becomes a binary patch: exact ASCII instead of text corrupted by
 * decoding. A lost or damaged object refuses the whole patch: applied without its file, a patch would be another change.
 */
export const patchSnapshots = (deps: Deps, request: DiffRequest): Promise<Buffer> =>
  nameDamaged(deps, request, () => exactPatch(deps, request));

async function exactPatch(deps: Deps, request: DiffRequest): Promise<Buffer> {
  using review = await reviewChanges(deps, request);
  await refuseLarge(deps, review);
  const options = { flags: ['--binary'], maxBytes: deps.limits.diffBytes };
  const input = { ...review, path: request.path };
  const files = await diffTree(deps, input, options);
  if (files.every((file) => file.sections.every((section) => isUtf8(section)))) {
    return Buffer.concat(files.flatMap((file) => file.sections));
  }
  const binary = await diffTree(deps, input, { ...options, attributesFrom: await binaryView(deps) });
  const sections = files.flatMap((file, index) => {
    return file.sections.every((section) => isUtf8(section)) ? file.sections : (binary[index]?.sections ?? []);
  });
  return Buffer.concat(sections);
}

/** git reads a whole file for a binary patch, so a file larger than the limit of a patch is refused first. */
async function refuseLarge(deps: Deps, { folder, changes }: Review): Promise<void> {
  const leaves = changes.flatMap(({ old, new: now }) => [old, now]).filter((leaf) => leaf !== null);
  const sizes = await blobSizes(deps, { gitDir: folder.shadow, oids: leaves.map(({ oid }) => oid) });
  const isLarge = ({ old, new: now }: Change) =>
    [old, now].some((leaf) => (sizes.get(leaf?.oid ?? '') ?? 0) > deps.limits.diffBytes);
  const large = changes.find(isLarge);
  if (large === undefined) return;
  throw new WorkspaceError('EDIFFTOOLARGE', `${toText(large.path)} is too large for a patch.`);
}

/**
 * A repository without objects, with attributes to mark every file as binary. With the objects of a run as alternates, git writes binary
 * patches inside this repository. `core.bigFileThreshold=1` does not work, because `--binary` reads the files before it checks their size.
 */
async function binaryView(deps: Deps): Promise<string> {
  const path = join(deps.dataDir, 'git', 'as-binary.git');
  const attributes = join(path, 'info', 'attributes');
  if (existsSync(attributes)) return path;
  await deps.git.run(['init', '-q', '--bare', '--template=', '--initial-branch=none', '--object-format=sha1', path]);
  mkdirSync(dirname(attributes), { recursive: true });
  await writeDurably(attributes, '* -diff\n', 0o644);
  return path;
}
