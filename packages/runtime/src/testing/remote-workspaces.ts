import { join } from 'node:path';
import { openSandbox } from '@holdpoint/sandbox';
import { bwrapPath } from '@holdpoint/sandbox/testing';
import { openSecrets } from '@holdpoint/secrets';
import { openWorkspaces, type Workspaces } from '@holdpoint/workspace';
import { openRemoteGit } from '../adapters/remote-git.ts';

export const token = 'token-of-the-test-1234';

export interface RemoteWorkspaces extends AsyncDisposable {
  workspaces: Workspaces;
  /** Another process of the same data directory. */
  reopen(more: Partial<Options>): Workspaces;
  /** What was logged. */
  logged: object[];
}

interface Options {
  root: string;
  certificate: string;
  /** Its host is open to sources. */
  url: string;
  /** @default the one of `url` */
  hosts?: readonly string[];
  allowAddresses?: readonly string[];
  maxBytes?: number;
  knownHosts?: string;
  /** Without a way to remotes. */
  isOff?: boolean;
  secrets?: Readonly<Record<string, string>>;
  onPoint?: (point: string) => void;
}

/** Workspaces of a data directory below `root`, with the real sandbox and remotes on the loopback. */
export async function openRemoteWorkspaces(options: Options): Promise<RemoteWorkspaces> {
  const stateDir = join(options.root, 'state');
  const sandbox = await openSandbox({ policy: 'require', allowUnsandboxed: false, stateDir, bwrapPath });
  const logged: object[] = [];
  const logger = { info: (fields: object) => void logged.push(fields), warn: () => {} };
  const reopen = (more: Partial<Options>): Workspaces => {
    const given = { ...options, ...more };
    const { maxBytes = 2 ** 30, knownHosts = '', hosts = [new URL(given.url).host] } = given;
    const { allowAddresses = ['127.0.0.1/32', '::1/128'] } = given;
    const values = { GIT_TOKEN: token, WRONG: 'another-token-1234', ...given.secrets };
    const environment = Object.fromEntries(
      Object.entries(values).map(([name, value]) => [`HOLDPOINT_SECRET_${name}`, value]),
    );
    const storeFolder = join(given.root, 'secrets');
    const secrets = openSecrets({ environment, variables: [], folder: undefined, storeFolder, key: undefined });
    const remoteGit = openRemoteGit({
      ...{ sandbox, secrets, logger, maxBytes, knownHosts, allowAddresses, authorities: [given.certificate] },
    });
    const uid = process.getuid?.() === 0 ? 20_001 : (process.getuid?.() ?? 0);
    return openWorkspaces({
      ...(given.isOff === true ? {} : { remoteGit }),
      ...{ dataDir: join(given.root, 'data'), roots: { gitHosts: hosts } },
      allocateOwner: () => ({ uid, gid: uid }),
      onPoint: given.onPoint ?? (() => {}),
    });
  };
  return {
    workspaces: reopen({}),
    reopen,
    logged,
    [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose](),
  };
}
