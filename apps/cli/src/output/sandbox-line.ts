import { z } from 'zod';

const enforcement = z.enum(['enforced', 'partial', 'absent']);

/** A worker's capability report on the wire. */
export const capabilitiesSchema = z.object({
  driver: z.string(),
  fs: enforcement,
  net: enforcement,
  pids: enforcement,
  memory: enforcement,
  cpu: enforcement,
  disk: enforcement,
  seccomp: enforcement,
  uid_drop: enforcement,
  notes: z.array(z.string()),
});
export type Capabilities = z.infer<typeof capabilitiesSchema>;

const names = {
  fs: 'files',
  net: 'network',
  pids: 'processes',
  seccomp: 'system calls',
  uid_drop: 'user',
  memory: 'memory',
  cpu: 'CPU',
  disk: 'disk',
} as const satisfies Partial<Record<keyof Capabilities, string>>;

/** `bubblewrap: files, network, processes enforced; memory, CPU partial` */
export function sandboxLine(report: unknown): string {
  const parsed = capabilitiesSchema.safeParse(report).data;
  if (parsed === undefined) return 'unknown: no worker has reported';
  if (parsed.driver === 'none') return 'NONE: commands run without isolation';
  const kinds = (['enforced', 'partial', 'absent'] as const).flatMap((kind) => {
    const found = Object.entries(names).flatMap(([name, label]) =>
      parsed[name as keyof typeof names] === kind ? [label] : [],
    );
    return found.length === 0 ? [] : [`${found.join(', ')} ${kind}`];
  });
  return `${parsed.driver}: ${kinds.join('; ')}`;
}
