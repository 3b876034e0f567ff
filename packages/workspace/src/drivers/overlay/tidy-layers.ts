import { execFile } from 'node:child_process';
import { statSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { type Deps, errnoOf, unlessMissing } from '../../deps.ts';
import { entriesOf, evictEntries } from '../../store/keyed/index.ts';
import { dropLayer, sampleLayer, soundLayer } from './check-layer.ts';
import { layerKind, layersFolder, readLayer, syncedMark } from './layer.ts';
import { hostEnv } from './mounter.ts';
import { boundMounts, formerLayer } from './mounts.ts';

const run = promisify(execFile);

/** Looks for damaged layers, syncs new layers, and removes the least recently used layers without trees. Unmounts unused trees. */
export async function tidyLayers(deps: Deps): Promise<void> {
  const names = await layerNames(deps);
  await sampleLayers(deps, names);
  await syncLayers(deps, names);
  await boundMounts(deps, { waitMs: 5000 });
  await evictLayers(deps);
}

/** Compares every layer with its list once per process, and the content of some of its files each time. */
async function sampleLayers(deps: Deps, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const { layer } = await soundLayer(deps, name);
    const why = layer && sampleLayer(layer);
    if (layer !== undefined && why !== undefined) dropLayer(deps, layer, why);
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

/** An untrusted layer goes immediately. */
function evictLayers(deps: Deps): Promise<void> {
  const { layerBytes: bytes, trashMs: idleMs } = deps.limits;
  const nameOf = (path: string): string => relative(layersFolder(deps.dataDir), path);
  return evictEntries(deps, layerKind, {
    ...{ bytes, idleMs, graceMs: hour },
    bytesOf: (path) => readLayer(deps, nameOf(path))?.counts.bytes ?? Number.POSITIVE_INFINITY,
    findUsed: async () => {
      const used = await usedLayers(deps);
      return (path) => used.has(nameOf(path));
    },
  });
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
        const layer = formerLayer(overlay);
        if (layer !== undefined) used.add(layer);
      }
    }
  }
  return used;
}

const layerNames = async ({ dataDir }: Deps): Promise<string[]> =>
  (await entriesOf(dataDir, layerKind)).map((path) => relative(layersFolder(dataDir), path));

const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;
const namesIn = (path: string): Promise<string[]> =>
  readdir(path).catch(unlessMissing<string[]>([], ['ENOENT', 'ENOTDIR']));
