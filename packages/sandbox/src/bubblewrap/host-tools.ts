import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { SandboxError } from '../errors.ts';

/** Absolute paths of the programs that set a sandbox up. */
export interface HostTools {
  bwrap: string;
  bash: string;
  mkfifo: string;
  /** Null when not on this host; only needed for workspaces that their uid cannot reach. */
  setpriv: string | null;
  unshare: string | null;
}

/**
 * Finds them: bubblewrap among the candidates first, then on the search path; the others on the search path.
 * Throws `SandboxError` ESANDBOXMISSING.
 */
export function findHostTools(input: { bwrapCandidates: readonly string[]; path: string }): HostTools {
  const directories = input.path.split(':').filter(Boolean);
  const find = (name: string) => directories.map((directory) => join(directory, name)).find(isExecutable) ?? null;
  const need = (name: string, found: string | null, advice: string) => {
    if (found) return found;
    throw new SandboxError('ESANDBOXMISSING', `${name} was not found; the sandbox cannot work without it.`, {
      retryable: false,
      next: advice,
    });
  };
  return {
    bwrap: need(
      'bubblewrap (bwrap)',
      input.bwrapCandidates.find(isExecutable) ?? find('bwrap'),
      'Run `npm run setup`, which unpacks it without root, or install the package `bubblewrap`.',
    ),
    bash: need('bash', find('bash'), 'Install the package `bash`.'),
    mkfifo: need('mkfifo', find('mkfifo'), 'Install the package `coreutils`.'),
    setpriv: find('setpriv'),
    unshare: find('unshare'),
  };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
