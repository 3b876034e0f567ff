import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { z } from 'zod';
import { thisProcess } from '../../run-folder/tree-head.ts';
import { damageFile, entriesOf, trashFolder } from '../../store/keyed/index.ts';
import { findDamage } from './check-layer.ts';
import { layerKind, layersFolder, readLayer } from './layer.ts';

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
