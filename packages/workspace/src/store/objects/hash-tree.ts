import { createYielder } from '../../files/index.ts';
import { treeContent } from './object-content.ts';
import { emptyTreeId, objectId } from './object-id.ts';
import { type Folder, isFolder } from './tree.ts';

/** Gives the folder and everything below an object id, without storing anything. */
export async function hashTree(root: Folder): Promise<string> {
  const maybeYield = createYielder();
  const seal = async (folder: Folder): Promise<void> => {
    for (const entry of folder.entries.values()) if (isFolder(entry) && entry.oid === undefined) await seal(entry);
    const content = treeContent(folder);
    folder.oid = content === null ? null : objectId('tree', content);
    const pause = maybeYield();
    if (pause !== undefined) await pause;
  };
  if (root.oid === undefined) await seal(root);
  return root.oid ?? emptyTreeId;
}
