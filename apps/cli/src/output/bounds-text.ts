import type { Bounds, Worker } from '@holdpoint/contract/wire';
import { nameText } from './name-text.ts';

/** The operator's bounds on every run, in one line. */
export function boundsText({ policy, source_roots: sources, publish_roots: targets }: Bounds): string {
  const everywhere = 'all except system directories, whole homes and their dot folders';
  return [
    policy === null ? "no operator's policy (HOLDPOINT_POLICY)" : `operator's policy ${policy.slice(0, 19)}`,
    `sources: ${sources.length === 0 ? everywhere : sources.map(nameText).join(', ')}`,
    `publish: ${targets.length === 0 ? 'wherever a source may lie' : targets.map(nameText).join(', ')}`,
  ].join('; ');
}

/** `at most max_turns 50, command.processes 64 (HOLDPOINT_LIMITS)` */
export function ceilingsText({ command = {}, ...limits }: NonNullable<Worker['ceilings']> = {}): string {
  const entries = [
    ...Object.entries(limits),
    ...Object.entries(command).map(([limit, most]) => [`command.${limit}`, most] as const),
  ];
  if (entries.length === 0) return 'no ceilings (HOLDPOINT_LIMITS)';
  return `at most ${entries.map(([limit, most]) => `${limit} ${most}`).join(', ')} (HOLDPOINT_LIMITS)`;
}
