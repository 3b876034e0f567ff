import type { Deps } from '../../deps.ts';
import { noteUse } from '../../store/keyed/index.ts';
import { recentLayer } from './check-layer.ts';
import { type Layer, type LayerContent, layerKey, layerKind, tenantFolder } from './layer.ts';

/** The layer of a tenant with this content; undefined when there is none, or when the trees of this host are plain folders. */
export async function findLayer(
  deps: Deps,
  { tenant, ...content }: LayerContent & { tenant: string | undefined },
): Promise<Layer | undefined> {
  if (!(await deps.sharing.usable())) return undefined;
  return takeLayer(deps, `${tenantFolder(tenant)}/${layerKey(content)}`);
}

/** A layer by its name, unless gone or damaged. */
export async function takeLayer(deps: Deps, name: string): Promise<Layer | undefined> {
  const layer = await recentLayer(deps, name);
  return layer === undefined || !noteUse(deps, layerKind, layer.path) ? undefined : layer;
}
