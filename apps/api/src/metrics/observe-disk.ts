import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freeBytes, measureFolder, type SpaceLimits } from '@holdpoint/engine/space';
import type { Metrics } from '@holdpoint/telemetry';
import { atMostOften } from './at-most.ts';

/** Parts of the data directory, by folder. */
const parts = { blobs: 'blobs', workspaces: 'runs', outputs: 'outputs', audit: 'audit' } as const;
type Part = keyof typeof parts;

const measureAgainMs = 10 * 60_000;

interface Disk {
  dataDir: string;
  limits: SpaceLimits;
  signal: AbortSignal;
}

/** Free space, and the sizes of the data directory's parts. Their files are counted in the background until the signal is aborted. */
export function observeDisk(metrics: Metrics, { dataDir, limits, signal }: Disk): void {
  if (!metrics.isOn) return;
  const free = atMostOften(() => freeBytes(dataDir));
  metrics.observe('diskFree', async () => [{ value: await free() }]);
  metrics.observe('diskFloor', () => [{ value: limits.floor }]);
  const sizes = new Map<Part, number>();
  metrics.observe('dataSize', () => [...sizes].map(([part, value]) => ({ value, labels: { part } })));
  void (async () => {
    while (!signal.aborted) {
      for (const part of Object.keys(parts) as Part[]) {
        sizes.set(part, await measureFolder(join(dataDir, parts[part]), signal));
      }
      await pause(measureAgainMs, undefined, { signal, ref: false });
    }
  })().catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}
