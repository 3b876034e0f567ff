import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Deps } from '../deps.ts';
import { runFolder } from '../run/run-folder.ts';
import { readRecord } from '../run/workspace-record.ts';

/**
 * Brings a run's objects together in one pack: after a run of 500 steps there are 500. What no ref needs is kept for a day as loose objects,
 * because somebody may be about to make the ref, and goes after that. git adds the new pack before it takes the old ones away, and a reader
 * that misses one looks again, so nobody is disturbed, and dying anywhere leaves both.
 */
export async function collectObjects(deps: Deps, runId: string): Promise<void> {
  const folder = runFolder(deps.dataDir, runId);
  if (readRecord(folder) === undefined) return;
  const packs = readdirSync(join(folder.shadow, 'objects', 'pack')).filter((name) => name.endsWith('.pack'));
  if (packs.length <= 1) return;
  const settings = ['-c', 'repack.writeBitmaps=false', '-c', 'pack.threads=1'];
  const flags = ['-A', '-d', '-q', '--unpack-unreachable=1.day.ago'];
  await deps.git.run([...settings, `--git-dir=${folder.shadow}`, 'repack', ...flags]);
  await deps.git.run([`--git-dir=${folder.shadow}`, 'prune-packed', '-q']);
  deps.onPoint('collect.packed');
}
