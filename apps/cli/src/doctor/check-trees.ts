import { existsSync } from 'node:fs';
import type { Config } from '../shell/index.ts';
import type { Finding } from './finding.ts';

/** Whether the trees of runs share layers on this host, or are copies and why. Mounts and unmounts a small trial. */
export async function checkTrees({ environment, dataDir }: Pick<Config, 'environment' | 'dataDir'>): Promise<Finding> {
  const name = 'trees';
  if (!existsSync(dataDir)) return { name, level: 'ok', text: 'nothing yet' };
  const { countMountedTrees, defaultTrees, whyCopies } = await import('@holdpoint/workspace/trees');
  const { HOLDPOINT_LAYERS: asked = defaultTrees } = environment;
  const reason = await whyCopies({ setting: asked === 'copy' ? 'copy' : 'auto', dataDir });
  const form = reason === undefined ? 'on shared layers, by overlay mounts' : `copies of the source: ${reason}`;
  const mounted = countMountedTrees(dataDir);
  const text = mounted === 0 ? form : `${form}; ${mounted} mounted, which \`holdpoint down\` unmounts`;
  return { name, level: 'ok', text, data: { layers: reason === undefined, mounted } };
}
