import { mkdirSync } from 'node:fs';
import type { RunFolder } from './run-folder.ts';
import { createHead, type Holder } from './tree-head.ts';

/** Makes the folder of a plain tree. Other users may traverse the folder of trees but not list its content. */
export function makeTree({ holder }: { holder: Holder }, folder: RunFolder): void {
  mkdirSync(`${folder.path}/trees`, { mode: 0o711 });
  mkdirSync(folder.tree, { mode: 0o700 });
  createHead(folder, holder);
}
