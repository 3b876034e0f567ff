import type { Bounds, Worker } from '@holdpoint/contract/wire';
import { nameText } from '@holdpoint/readable';
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

/** The operator's bounds on every run, on a single line. */
export function boundsText({ policy, policy_version: version, tool_modules: modules = [], ...roots }: Bounds): string {
  const { source_roots: sources, publish_roots: targets, git_hosts: hosts } = roots;
  const everywhere = 'all except system directories, whole homes and their dot folders';
  return [
    policy === null
      ? "no operator's policy"
      : `operator's policy ${policy.slice(0, 19)}${version == null ? '' : ` (version ${version})`}`,
    `sources: ${sources.length === 0 ? everywhere : sources.map(nameText).join(', ')}`,
    `publish: ${targets.length === 0 ? 'wherever a source may lie' : targets.map(nameText).join(', ')}`,
    `remote sources: ${hosts.length === 0 ? 'none' : hosts.map((host) => (host === '*' ? 'public hosts by https' : nameText(host))).join(', ')}`,
    ...modules.map(moduleText),
  ].join('; ');
}

/** Versions belong to the text: programs with different loaded versions differ. */
const moduleText = ({ module, tools }: NonNullable<Bounds['tool_modules']>[number]): string =>
  `tools of ${nameText(module)}: ${Object.entries(tools)
    .map(([name, version]) => `${nameText(name)} (${version})`)
    .join(', ')}`;

/** `at most max_turns 50, command.processes 64 (HOLDPOINT_LIMITS)` */
export function ceilingsText({ command = {}, ...limits }: NonNullable<Worker['ceilings']> = {}): string {
  const entries = [
    ...Object.entries(limits),
    ...Object.entries(command).map(([limit, most]) => [`command.${limit}`, most] as const),
  ];
  if (entries.length === 0) return 'no ceilings (HOLDPOINT_LIMITS)';
  return `at most ${entries.map(([limit, most]) => `${limit} ${most}`).join(', ')} (HOLDPOINT_LIMITS)`;
}
