import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { z } from 'zod';
import { type Deps, errnoOf } from '../../deps.ts';
import { type BytePath, fromPlain, toText } from '../../files/index.ts';
import { thisProcess } from '../../run-folder/tree-head.ts';
import { damageFile, entriesOf, setAside, trashFolder } from '../../store/keyed/index.ts';
import { objectId } from '../../store/objects/index.ts';
import { type Layer, layerKind, layersFolder, readLayer } from './layer.ts';
import { digestStatuses, type ListedPath, plainPath, readLayerList } from './layer-list.ts';

/** A new tree needs a layer with a comparison within this time. */
const recentMs = 10 * 60_000;

/**
 * Reads a layer and, at its first use in this process, compares every file with the list of the layer. A different layer goes to the
 * trash: its trees are distrusted at their next use, and are built again.
 *
 * @param options.within repeats comparisons older than this, ms
 * @returns no layer without a trustworthy layer; `why`: the differences of a damaged layer
 */
export async function soundLayer(
  deps: Deps,
  name: string,
  { within }: { within?: number } = {},
): Promise<{ layer?: Layer; why?: string }> {
  const layer = readLayer(deps, name);
  if (layer === undefined) return {};
  const why = await deps.checks.check({ id: idOf(layer), within }, () => findDamage(layer));
  if (why === undefined) return { layer };
  dropLayer(deps, layer, why);
  return { why };
}

const idOf = ({ path, identity }: Layer): string => `${path} ${identity}`;

/** Notes a layer just made by this process. */
export function noteSound(deps: Deps, name: string): Layer | undefined {
  const layer = readLayer(deps, name);
  if (layer !== undefined) deps.checks.noteSound(idOf(layer));
  return layer;
}

/** For a new tree: a layer without damage, checked lately by this process. */
export const recentLayer = async (deps: Deps, name: string): Promise<Layer | undefined> =>
  (await soundLayer(deps, name, { within: recentMs })).layer;

/** Puts a damaged layer into the trash. @param why a sentence with paths */
export const dropLayer = (deps: Deps, { path }: Pick<Layer, 'path'>, why: string): void =>
  setAside(deps, layerKind, { entry: path, why });

/** Compares a layer with its list: 4 µs per file. @returns how the layer differs, as a sentence */
async function findDamage(layer: Layer): Promise<string | undefined> {
  const { list, path, root } = layer;
  try {
    if ((await digestStatuses(root)) === list.status) return undefined;
    const listed = readLayerList(path, list);
    return listed === undefined ? 'Its files and its list differ.' : describeDamage(await differences(root, listed));
  } catch (error) {
    const errno = errnoOf(error);
    // Another process may put the layer aside at this moment.
    if (errno === undefined) throw error;
    return `Its files cannot be read (${errno}).`;
  }
}

async function differences(root: string, listed: readonly ListedPath[]): Promise<BytePath[]> {
  const rows = new Map(listed.map(({ path, row }) => [path, row]));
  const found = new Set<BytePath>();
  await digestStatuses(root, (row, path) => {
    if (rows.get(path) !== row) found.add(path);
    rows.delete(path);
  });
  const paths = [...found, ...rows.keys()].sort();
  // The times of a folder change with its names.
  return paths.filter((path, index) => paths[index + 1]?.startsWith(`${path}/`) !== true);
}

const mostNamed = 10;

/** Names the changed paths of a layer. */
export function describeDamage(paths: readonly BytePath[]): string {
  const named = paths.slice(0, mostNamed).map(toText);
  const more = paths.length - named.length;
  const list = `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  return `${paths.length} ${paths.length === 1 ? 'path differs' : 'paths differ'} from what was written: ${list}.`;
}

const sampledFiles = 64;
const sampledBytes = 32 * 1024 * 1024;

/**
 * Compares the content of random files with the list. A disk with lost or changed bytes leaves the status unchanged, so only a read of the
 * files finds the damage.
 */
export function sampleLayer(layer: Layer, random: () => number = Math.random): string | undefined {
  const listed = readLayerList(layer.path, layer.list);
  if (listed === undefined) return 'Its list is damaged.';
  const files = listed.filter(({ oid }) => oid !== '-');
  const damaged: BytePath[] = [];
  let bytes = 0;
  for (let left = Math.min(sampledFiles, files.length); left > 0 && bytes < sampledBytes; left--) {
    const [one] = files.splice(Math.floor(random() * files.length), 1);
    if (one === undefined) break;
    const content = contentOf(layer, one.path);
    bytes += content?.length ?? 0;
    if (content !== undefined && objectId('blob', content) !== one.oid) damaged.push(one.path);
  }
  return damaged.length === 0 ? undefined : describeDamage(damaged.sort());
}

/** Undefined for a file too large for a sample, and for a missing file: the next comparison of the statuses finds missing files. */
function contentOf({ root }: Layer, path: BytePath): Uint8Array | undefined {
  const at = plainPath(`${fromPlain(root)}/${path}`);
  const status = lstatSync(at, { throwIfNoEntry: false });
  if (status === undefined || status.size > sampledBytes) return undefined;
  return status.isSymbolicLink() ? readlinkSync(at, { encoding: 'buffer' }) : readFileSync(at);
}

const damagedSchema = z.object({ kind: z.string(), name: z.string(), why: z.string(), at: z.string() });

/** Damaged files and folders in the trash of a data directory, with their differences from the original. */
export function listSetAside(dataDir: string): z.infer<typeof damagedSchema>[] {
  const trash = trashFolder(dataDir);
  return namesIn(trash).flatMap((name) => {
    try {
      return [damagedSchema.parse(JSON.parse(readFileSync(damageFile(join(trash, name)), 'utf8')))];
    } catch {
      // The folder of a run, without a file about damage.
      return [];
    }
  });
}

/**
 * Compares the status of all layers with their lists, for a limited time. Changes nothing.
 * @returns the damaged layers, and whether all were compared
 */
export async function findDamagedLayers(
  dataDir: string,
  maxMs: number,
): Promise<{ damaged: { name: string; why: string }[]; complete: boolean }> {
  const names = (await entriesOf(dataDir, layerKind)).map((path) => relative(layersFolder(dataDir), path));
  const end = performance.now() + maxMs;
  const damaged: { name: string; why: string }[] = [];
  for (const name of names) {
    if (performance.now() > end) return { damaged, complete: false };
    const layer = readLayer({ dataDir, holder: thisProcess() }, name);
    const why = layer && (await findDamage(layer));
    if (why !== undefined) damaged.push({ name, why });
  }
  return { damaged, complete: true };
}

function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
