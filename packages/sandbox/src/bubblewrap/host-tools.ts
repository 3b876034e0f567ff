import { join } from 'node:path';
import { SandboxError } from '../errors.ts';
import { isExecutable } from '../is-executable.ts';
import { type BwrapPlaces, findBwrap } from './find-bwrap.ts';
import { type Seal, seal } from './seal.ts';

/** Absolute paths of the programs that set a sandbox up. */
export interface HostTools {
  bwrap: string;
  /** Of bubblewrap, to be checked before each start. */
  seal: Seal;
  bash: string;
  mkfifo: string;
  /** Null when not on this host; only needed for workspaces that their uid cannot reach. */
  setpriv: string | null;
  unshare: string | null;
}

/**
 * Finds them, and checks that bubblewrap is as the set-up left it. Throws `SandboxError` ESANDBOXMISSING, ESANDBOXCHANGED.
 */
export function findHostTools(input: {
  bwrapCandidates: BwrapPlaces['candidates'];
  unpackedBwrap?: string | undefined;
  path: string;
}): HostTools {
  const directories = input.path.split(':').filter(Boolean);
  const find = (name: string) => directories.map((directory) => join(directory, name)).find(isExecutable) ?? null;
  const need = <Found>(name: string, found: Found | null, advice: string): Found => {
    if (found) return found;
    throw new SandboxError('ESANDBOXMISSING', `${name} was not found; the sandbox cannot work without it.`, {
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
    seal: seal(bwrap),
    bash: need('bash', find('bash'), 'Install the package `bash`.'),
    mkfifo: need('mkfifo', find('mkfifo'), 'Install the package `coreutils`.'),
    setpriv: find('setpriv'),
    unshare: find('unshare'),
  };
}
