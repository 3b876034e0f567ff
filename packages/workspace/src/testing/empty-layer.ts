import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { mounterProgram, requestLine } from '../drivers/overlay/mounter.ts';
import type { Owner } from '../port/workspaces.ts';

/** Mounts an overlay over an empty layer at an empty folder, as trees of runs are mounted. What is written lies in `<path>.overlay`. */
export function standOnEmptyLayer(path: string, { uid, gid }: Owner): void {
  const overlay = `${path}.overlay`;
  const [layer, upper, work] = ['layer', 'upper', 'work'].map((name) => join(overlay, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(overlay, { mode: 0o700 });
  for (const folder of [layer, upper, work]) mkdirSync(folder, { mode: 0o700 });
  chownSync(upper, uid, gid);
  const input = requestLine(1, 'mount', [layer, upper, work, path, String(uid), String(gid)]);
  const reply = execFileSync('perl', [mounterProgram], { input, encoding: 'utf8' });
  if (!reply.startsWith('1 0 ')) throw new Error(`the tree could not be mounted: ${reply}`);
}
