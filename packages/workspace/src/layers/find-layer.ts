import { utimesSync } from 'node:fs';
import { type Deps, errnoOf } from '../deps.ts';
import { recentLayer } from './check-layer.ts';
import { type Layer, type LayerContent, layerFile, layerKey, tenantFolder } from './layer.ts';

/** The layer of a tenant with this content; undefined when there is none, or when the trees of this host are plain folders. */
export async function findLayer(
  deps: Deps,
  { tenant, ...content }: LayerContent & { tenant: string | undefined },
): Promise<Layer | undefined> {
  if (!(await deps.layers.usable())) return undefined;
  return takeLayer(deps, `${tenantFolder(tenant)}/${layerKey(content)}`);
}

/** A layer by its name, unless gone or damaged. */
export async function takeLayer(deps: Deps, name: string): Promise<Layer | undefined> {
  const layer = await recentLayer(deps, name);
  return layer === undefined || !touchLayer(deps, layer) ? undefined : layer;
}

/** Notes the use of a layer: the least recently used layers go first. Returns whether the layer still exists. */
function touchLayer(deps: Pick<Deps, 'now'>, { path }: Pick<Layer, 'path'>): boolean {
  try {
    utimesSync(layerFile(path), deps.now() / 1000, deps.now() / 1000);
    return true;
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    return false;
  }
}
