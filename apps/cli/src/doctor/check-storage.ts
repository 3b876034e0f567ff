import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { bytes, counted } from '../output/index.ts';
import type { Finding } from './finding.ts';
import { entriesOf, measure, startWalk, type Walk } from './measure.ts';

const name = 'storage';
const maxMs = 3000;
const maxNamed = 5;
const minFreeBytes = 1024 ** 3;

/**
 * Measures the data directory and its largest runs, for three seconds at most.
 *
 * @param sizes receives the bytes of each measured run
 */
export async function checkStorage(
  dataDir: string,
  walk: Walk = startWalk(maxMs),
  sizes: Map<string, number> = new Map(),
): Promise<Finding> {
  const free = await statfs(dataDir).catch(() => undefined);
  if (free === undefined) return { name, level: 'ok', text: 'nothing yet' };
  const parts: Record<string, number> = { redis: 0, blobs: 0, prepared: 0, trash: 0, other: 0 };
  for (const entry of await entriesOf(walk, dataDir)) {
    if (entry.name === 'runs' || !entry.isDirectory()) continue;
    const part = entry.name in parts ? entry.name : 'other';
    parts[part] = (parts[part] ?? 0) + ((await measure(walk, join(dataDir, entry.name))) ?? 0);
  }
  const { count, measured } = await measureRuns(walk, join(dataDir, 'runs'));
  for (const run of measured) sizes.set(run.run_id, run.bytes);
  const largest = measured.toSorted((a, b) => b.bytes - a.bytes).slice(0, maxNamed);
  const freeBytes = free.bavail * free.bsize;
  const workspaces = measured.reduce((sum, run) => sum + run.bytes, 0);
  const data = {
    total: walk.bytes,
    complete: walk.complete,
    free: freeBytes,
    ...parts,
    workspaces,
    runs: count,
    largest,
  };
  const level = freeBytes < minFreeBytes ? 'warn' : 'ok';
  const next =
    level === 'warn' ? 'Discard runs that you no longer need, or let workers do it: HOLDPOINT_RETAIN_DAYS.' : undefined;
  return { name, level, text: textOf(data, measured.length), data, next };
}

interface RunSpace {
  run_id: string;
  bytes: number;
}

async function measureRuns(walk: Walk, folder: string): Promise<{ count: number; measured: RunSpace[] }> {
  const runs = (await entriesOf(walk, folder)).filter((entry) => entry.isDirectory());
  const measured: RunSpace[] = [];
  for (const run of runs) {
    const space = await measure(walk, join(folder, run.name));
    if (space === undefined) break;
    measured.push({ run_id: run.name, bytes: space });
  }
  return { count: runs.length, measured };
}

function textOf(
  data: {
    total: number;
    complete: boolean;
    free: number;
    workspaces: number;
    runs: number;
    largest: RunSpace[];
  } & Record<string, unknown>,
  measured: number,
): string {
  const { total, complete, free, workspaces, runs, largest } = data;
  const part = (of: string) => `${of} ${bytes(Number(data[of]))}`;
  const seen = measured === runs ? '' : `, ${measured} of them measured`;
  const lines = [
    `${complete ? '' : 'at least '}${bytes(total)}, ${bytes(free)} free: workspaces of ${counted(runs, 'run')}${seen} ${bytes(workspaces)}, ${['redis', 'blobs', 'prepared', 'trash', 'other'].map(part).join(', ')}`,
    ...largest.map((run) => `${run.run_id} ${bytes(run.bytes)}`),
  ];
  return lines.join('\n');
}
