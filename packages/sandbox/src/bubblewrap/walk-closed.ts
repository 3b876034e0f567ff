import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { WalkClosed } from '../workspace-size/sizes.ts';

/** A tree that takes longer counts as larger than any limit. */
const PATIENCE_MS = 10_000;
const program = fileURLToPath(new URL('../workspace-size/print-walk.ts', import.meta.url));

/**
 * Counts a tree in a user namespace of its own. There the worker's user may pass every directory that it owns, whatever the mode. To open
 * the directories by chmod would disturb a command that relies on their modes.
 */
export function walkClosedWith(tools: { bwrap: string }): WalkClosed {
  return (path, enough) =>
    new Promise((resolve) => {
      const namespace = ['--unshare-user', '--uid', '0', '--gid', '0', '--cap-drop', 'ALL'];
      const rights = ['--cap-add', 'CAP_DAC_READ_SEARCH', '--die-with-parent', '--ro-bind', '/', '/', '--'];
      execFile(
        tools.bwrap,
        [...namespace, ...rights, process.execPath, program, path, String(enough)],
        { env: {}, timeout: PATIENCE_MS, killSignal: 'SIGKILL' },
        (error, stdout) => {
          const [bytes, closed] = stdout.split(' ');
          if (error?.killed) resolve(Number.POSITIVE_INFINITY);
          else resolve(error || closed !== 'false' ? null : Number(bytes));
        },
      );
    });
}
