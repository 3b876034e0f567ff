import type { CapabilityReport } from '@holdpoint/contract';
import { type RunDeps, runCommand } from './run-command.ts';
import type { WorkspaceMount } from './tree.ts';

/**
 * A script to try the wall: a read-only command must not write or start a program of the tree, and must find exactly three programs in each
 * of two folders.
 */
const line = `
shopt -s nullglob
: >/workspace/wall 2>/dev/null && echo wrote
cat /workspace/program >/tmp/program && for loader in /lib64/ld-*.so* /lib/ld-*.so*; do
  "$loader" /tmp/program && echo started
  "$loader" /workspace/program && echo started
done 2>/dev/null
/workspace/program 2>/dev/null && echo started
programs=(/usr/bin/* /usr/local/bin/*)
printf '%s\n' "\${#programs[@]}"`;
/** bash, sh and cat, in /usr/bin and behind its link. */
const expected = '6\n';

/** Runs a command behind the wall. @returns the reason for having no wall on this host; null when the wall holds */
export async function probeWall(
  deps: RunDeps,
  { workspace, signal }: { workspace: WorkspaceMount; signal: AbortSignal },
): Promise<string | null> {
  const tried = runCommand(deps, { workspace, only: ['cat'], argv: ['/bin/bash', '-c', line], signal });
  const result = await tried.catch((error: unknown) => String(error));
  if (typeof result === 'string') return result;
  if (result.end.status === 'exited' && result.stdout.text === expected) return null;
  return `It failed on ${JSON.stringify(result.stdout.text.slice(0, 200))}. ${result.stderr.text.trim().slice(0, 300)}`;
}

/** Adds a note to the report of a host without a wall. */
export const withWall = (report: CapabilityReport, why: string | null): CapabilityReport =>
  why === null
    ? report
    : { ...report, notes: [...report.notes, `Lines that only read run as others do, with snapshots: no wall. ${why}`] };
