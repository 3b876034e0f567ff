import type { CapabilityReport } from '@holdpoint/contract';
import { type RunDeps, runCommand } from './run-command.ts';
import type { WorkspaceMount } from './tree.ts';

/** What a command that only reads must not reach, and what it must. */
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

/** Runs a command behind the wall. @returns why there is none on this host; null when it holds */
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

/** The report of a host without a wall says so. */
export const withWall = (report: CapabilityReport, why: string | null): CapabilityReport =>
  why === null
    ? report
    : { ...report, notes: [...report.notes, `Lines that only read run as others do, with snapshots: no wall. ${why}`] };
