import { type Folder, isFolder } from '../tree/tree.ts';
import { treeContent } from './object-content.ts';
import { emptyTreeId, objectId } from './object-id.ts';

/** Gives the folder and everything below it an object id, without storing anything. */
export function hashTree(root: Folder): string {
  const seal = (folder: Folder): void => {
    if (folder.oid !== undefined) return;
    for (const entry of folder.entries.values()) if (isFolder(entry)) seal(entry);
    const content = treeContent(folder);
    folder.oid = content === null ? null : objectId('tree', content);
  };
  seal(root);
  return root.oid ?? emptyTreeId;
}
