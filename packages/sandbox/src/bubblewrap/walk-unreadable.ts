import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { WalkUnreadable } from '../workspace-size/sizes.ts';

/** A tree that takes longer counts as larger than any limit. */
const timeoutMs = 10_000;
const program = fileURLToPath(new URL('../workspace-size/print-walk.ts', import.meta.url));

/**
 * Measures a tree in a separate user namespace, where the worker's user may pass every directory that it owns, whatever the mode. A chmod
 * of the directories would disturb a command that relies on their modes.
 */
export function walkUnreadableWith(tools: { bwrap: string }): WalkUnreadable {
  return (path, enough) =>
    new Promise((resolve) => {
      const namespace = ['--unshare-user', '--uid', '0', '--gid', '0', '--cap-drop', 'ALL'];
      const rights = ['--cap-add', 'CAP_DAC_READ_SEARCH', '--die-with-parent', '--ro-bind', '/', '/', '--'];
      execFile(
        tools.bwrap,
        [...namespace, ...rights, process.execPath, program, path, String(enough)],
        { env: {}, timeout: timeoutMs, killSignal: 'SIGKILL' },
        (error, stdout) => {
          const [bytes, unreadable] = stdout.split(' ');
          if (error?.killed) resolve(Number.POSITIVE_INFINITY);
          else resolve(error || unreadable !== 'false' ? null : Number(bytes));
        },
      );
    });
}
