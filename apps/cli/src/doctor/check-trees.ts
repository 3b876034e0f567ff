import { existsSync } from 'node:fs';
import { counted } from '../output/index.ts';
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

const maxMs = 3000;
const maxNamed = 5;

/** Damaged files shared by several runs: files found now, and files put aside by workers. */
export async function checkDamage({ dataDir }: Pick<Config, 'dataDir'>): Promise<Finding> {
  const name = 'shared files';
  const { findDamagedLayers, listSetAside } = await import('@holdpoint/workspace/trees');
  const { damaged, complete } = await findDamagedLayers(dataDir, maxMs);
  const aside = listSetAside(dataDir);
  const data = { damaged, set_aside: aside, complete };
  if (damaged.length + aside.length === 0) {
    return { name, level: 'ok', text: complete ? 'as they were written' : 'no damage in 3 seconds of looking', data };
  }
  const lines = [
    ...damaged.map((one) => `layers/${one.name}: ${one.why}`),
    ...aside.map((one) => `set aside ${one.at}: ${one.kind} ${one.name}: ${one.why}`),
  ];
  const more = lines.length > maxNamed ? [`and ${lines.length - maxNamed} more`] : [];
  const counts = `${counted(damaged.length, 'damaged layer')}, ${aside.length} set aside`;
  return {
    name,
    level: 'warn',
    text: [counts, ...lines.slice(0, maxNamed), ...more].join('\n'),
    data,
    next: 'Check the disk and its file system (dmesg, smartctl), and that no program but Holdpoint writes to the data directory. Runs get new files by themselves; look at what steps read before that (workspace.distrusted in their logs).',
  };
}
