import { execFile } from 'node:child_process';
import { mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type Deps, errnoOf, unlessMissing } from '../deps.ts';
import { removeFolder } from '../files/index.ts';
import { temporaryPath } from '../run-folder/index.ts';
import { boundMounts } from './bound-mounts.ts';
import { dropLayer, sampleLayer, soundLayer } from './check-layer.ts';
import { layerFile, layersFolder, readLayer, syncedMark } from './layer.ts';
import { hostEnv } from './mounter.ts';
import { formerLayer } from './overlay-record.ts';

const run = promisify(execFile);

/** Looks for damaged layers, syncs new layers, and removes the least recently used layers without trees. Unmounts unused trees. */
export async function tidyLayers(deps: Deps): Promise<void> {
  const names = await layerNames(deps);
  await sampleLayers(deps, names);
  await syncLayers(deps, names);
  await boundMounts(deps, { waitMs: 5000 });
  await evictLayers(deps, names);
}

/** Compares every layer with its list once per process, and the content of some of its files each time. */
async function sampleLayers(deps: Deps, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const { layer } = await soundLayer(deps, name);
    const why = layer && sampleLayer(layer);
    if (layer !== undefined && why !== undefined) await dropLayer(deps, layer, why);
  }
}

/** After the sync a layer survives a power failure. Unsynced layers of an earlier boot are not trusted. */
async function syncLayers(deps: Deps, names: readonly string[]): Promise<void> {
  const top = layersFolder(deps.dataDir);
  const fresh = names.filter((name) => readLayer(deps, name) !== undefined && !isThere(syncedMark(join(top, name))));
  if (fresh.length === 0) return;
  try {
    await run('sync', ['-f', '--', top], { env: hostEnv, cwd: '/', timeout: 600_000 });
  } catch (error) {
    deps.logger.warn({ err: error }, 'failed to sync layers, will retry');
    return;
  }
  for (const name of fresh) markSynced(syncedMark(join(top, name)));
}

function markSynced(path: string): void {
  try {
    writeFileSync(path, '', { mode: 0o600 });
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}

const hour = 3_600_000;

async function evictLayers(deps: Deps, names: readonly string[]): Promise<void> {
  const used = await usedLayers(deps);
  const unused = names
    .filter((name) => !used.has(name))
    .map((name) => ({ name, ...useOf(deps, name) }))
    .sort((a, b) => b.usedAt - a.usedAt);
  let total = 0;
  for (const { name, bytes, usedAt } of unused) {
    total += bytes;
    const idleMs = deps.now() - usedAt;
    // A run in the making may be about to use the layer.
    if (idleMs < hour) continue;
    if (total > deps.limits.layerBytes || idleMs > deps.limits.trashMs) await removeLayer(deps, name);
  }
}

function useOf(deps: Deps, name: string): { bytes: number; usedAt: number } {
  const layer = readLayer(deps, name);
  const status = statSync(layerFile(join(layersFolder(deps.dataDir), name)), { throwIfNoEntry: false });
  // An untrusted layer goes immediately.
  return { bytes: layer?.counts.bytes ?? Number.POSITIVE_INFINITY, usedAt: status?.mtimeMs ?? 0 };
}

/** Taken from its name first, and checked once more: a tree made at this moment keeps the layer. */
async function removeLayer(deps: Deps, name: string): Promise<void> {
  const path = join(layersFolder(deps.dataDir), name);
  const away = temporaryPath(deps, 'layer');
  mkdirSync(dirname(away), { recursive: true, mode: 0o700 });
  renameSync(path, away);
  if ((await usedLayers(deps)).has(name)) renameSync(away, path);
  else await removeFolder(away);
}

/** The layers below any tree, also below a tree in the making or in removal, or in the trash, for a possible return by a person. */
async function usedLayers(deps: Deps): Promise<Set<string>> {
  const used = new Set<string>();
  for (const above of ['runs', 'making', 'discarding', 'trash']) {
    for (const run of await namesIn(join(deps.dataDir, above))) {
      const folder = join(deps.dataDir, above, run);
      const overlays = (await namesIn(join(folder, 'overlays'))).map((name) => join(folder, 'overlays', name));
      const retired = (await namesIn(join(folder, 'retired'))).map((name) => join(folder, 'retired', name));
      for (const overlay of [...overlays, ...retired]) {
        const layer = formerLayer({ overlay });
        if (layer !== undefined) used.add(layer);
      }
    }
  }
  return used;
}

async function layerNames({ dataDir }: Deps): Promise<string[]> {
  const top = layersFolder(dataDir);
  const names: string[] = [];
  for (const tenant of await namesIn(top)) {
    for (const key of await namesIn(join(top, tenant))) names.push(`${tenant}/${key}`);
  }
  return names;
}

const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;
const namesIn = (path: string): Promise<string[]> =>
  readdir(path).catch(unlessMissing<string[]>([], ['ENOENT', 'ENOTDIR']));
