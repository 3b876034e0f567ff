import fc from 'fast-check';
import { expect, test } from 'vitest';
import { emptyFolder, emptyFolders, emptyFoldersSince, type Folder, find, modes, withEntry } from './tree.ts';

const path = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 4 });
const change = fc.record({ path, to: fc.constantFrom('file', 'folder', 'nothing', 'copy') });

function changed(root: Folder, { path: names, to }: { path: string[]; to: string }): Folder {
  if (to === 'file') return withEntry(root, names, { mode: modes.file, oid: '0'.repeat(40) });
  if (to === 'folder') return withEntry(root, names, emptyFolder());
  return withEntry(root, names, to === 'copy' ? find(root, names.slice(0, -1)) : undefined);
}

test('the empty folders of a tree follow from the earlier empty folders and the differences', () => {
  const changes = fc.array(change, { maxLength: 12 });
  fc.assert(
    fc.property(changes, changes, (first, then) => {
      const before = first.reduce(changed, emptyFolder());
      const after = then.reduce(changed, before);
      expect(emptyFoldersSince({ root: before, empty: emptyFolders(before) }, after)).toEqual(emptyFolders(after));
    }),
    { numRuns: 2000 },
  );
});
