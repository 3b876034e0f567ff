import { type LfsPointers, mostAbsentPaths } from '@holdpoint/contract';
import type { Deps } from '../deps.ts';
import { toText } from '../files/index.ts';
import { withObjectReader } from '../host-git/object-reader.ts';
import { readKept, rethrowBroken } from '../source/git/repository.ts';
import { isPointer, largestPointer } from '../source/lfs-pointer.ts';
import { type Folder, leavesOf, modes } from '../store/objects/index.ts';
import type { Listing } from '../tree/index.ts';
import type { GitFound } from './check-out.ts';

const largestAttributes = 1024 * 1024;
/** Pointers and attributes are small. Content of a commit beyond these bytes of either is not searched. */
const mostBytes = 32 * 1024 * 1024;

/** The pointer files of git-lfs in a commit. Only a commit with the filter in its attributes is read: a rare case. */
export async function findLfsPointers(
  deps: Pick<Deps, 'git'>,
  input: { found: GitFound; root: Folder; listing: Pick<Listing, 'sizes'>; signal?: AbortSignal | undefined },
): Promise<LfsPointers | undefined> {
  const files: { path: string; oid: string; size: number }[] = [];
  for (const { path, leaf } of leavesOf(input.root)) {
    if (leaf.mode === modes.symlink) continue;
    files.push({ path, oid: leaf.oid, size: input.listing.sizes.get(leaf.oid) ?? 0 });
  }
  const attributes = within(files.filter(({ path, size }) => isAttributes(path) && size <= largestAttributes));
  if (attributes.length === 0) return undefined;
  const texts = await contentsOf(deps, input, attributes);
  if (!texts.some((text) => /\bfilter=lfs\b/.test(text.toString('latin1')))) return undefined;
  const small = within(files.filter(({ size }) => size > 0 && size <= largestPointer));
  const contents = await contentsOf(deps, input, small);
  const pointers = small.filter((_, index) => isPointer(contents[index] ?? Buffer.alloc(0)));
  if (pointers.length === 0) return undefined;
  return { files: pointers.length, paths: pointers.slice(0, mostAbsentPaths).map(({ path }) => toText(path)) };
}

/** The first files, `mostBytes` together at most. */
function within<File extends { size: number }>(files: readonly File[]): File[] {
  let bytes = 0;
  return files.filter(({ size }) => {
    bytes += size;
    return bytes <= mostBytes;
  });
}

const isAttributes = (path: string): boolean => path === '.gitattributes' || path.endsWith('/.gitattributes');

async function contentsOf(
  deps: Pick<Deps, 'git'>,
  { found, signal }: { found: GitFound; signal?: AbortSignal | undefined },
  files: readonly { oid: string }[],
): Promise<Buffer[]> {
  if (files.length === 0) return [];
  const contents: Buffer[] = [];
  const { repository } = found;
  await withObjectReader(deps, ({ git }) =>
    readKept(git, repository, { names: files.map(({ oid }) => oid), type: 'blob', signal }, (_, content) => {
      contents.push(content);
    }),
  ).catch(rethrowBroken(repository));
  return contents;
}
