import { counted } from '../output/index.ts';
import type { Config } from '../shell/index.ts';
import type { Finding } from './finding.ts';

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
