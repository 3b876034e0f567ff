import { join } from 'node:path';
import { SandboxError } from '../errors.ts';
import { isExecutable } from '../is-executable.ts';
import { type BwrapSearch, findBwrap } from './find-bwrap.ts';
import { type IntegrityCheck, openIntegrityCheck } from './integrity.ts';

/** Absolute paths of the programs to set up a sandbox. */
export interface HostTools {
  bwrap: string;
  /** Checks bubblewrap. Called before each start. */
  integrity: IntegrityCheck;
  bash: string;
  mkfifo: string;
  /** Null when the host has no such program. Needed only for workspaces unreachable for their uid. */
  setpriv: string | null;
  unshare: string | null;
  nsenter: string | null;
  perl: string | null;
}

/**
 * Throws `SandboxError` ESANDBOXMISSING when a needed program is missing, or ESANDBOXCHANGED when bubblewrap has changed since the set-up.
 */
export function findHostTools(input: {
  bwrapCandidates: BwrapSearch['candidates'];
  unpackedBwrap?: string | undefined;
  path: string;
}): HostTools {
  const directories = input.path.split(':').filter(Boolean);
  const find = (name: string) => directories.map((directory) => join(directory, name)).find(isExecutable) ?? null;
  const need = <Found>(name: string, found: Found | null, advice: string): Found => {
    if (found) return found;
    throw new SandboxError('ESANDBOXMISSING', `${name} was not found. The sandbox cannot work without it.`, {
      retryable: false,
      next: advice,
    });
  };
  const bwrap = need(
    'bubblewrap (bwrap)',
    findBwrap({ candidates: input.bwrapCandidates, unpacked: input.unpackedBwrap, path: input.path }),
    'Run `npm run setup`, which unpacks it without root, or install the package `bubblewrap`.',
  );
  return {
    bwrap: bwrap.path,
    integrity: openIntegrityCheck(bwrap),
    bash: need('bash', find('bash'), 'Install the package `bash`.'),
    mkfifo: need('mkfifo', find('mkfifo'), 'Install the package `coreutils`.'),
    setpriv: find('setpriv'),
    unshare: find('unshare'),
    nsenter: find('nsenter'),
    perl: find('perl'),
  };
}
