import type { Progress } from '../port/workspaces.ts';

const units = { bytes: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 } as const;

/** Reads git's `Receiving objects:  45% (123/456), 12.30 MiB | 1.2 MiB/s`: objects count as files. */
export function readProgress(line: string): Progress | undefined {
  const [, objects, size, unit] =
    /^Receiving objects: +\d+% \((\d+)\/\d+\)(?:, ([\d.]+) (bytes|[KMG]iB))?/.exec(line) ?? [];
  if (objects === undefined) return undefined;
  return {
    files: Number(objects),
    bytes: Math.round(Number(size ?? 0) * units[(unit ?? 'bytes') as keyof typeof units]),
  };
}
