import type { Remote, RemoteSource } from '@holdpoint/contract';
import type { Owner } from './workspaces.ts';

/** A remote repository, and its reader. */
export interface RemoteAccess extends Pick<RemoteSource, 'credentials' | 'known_hosts'> {
  remote: Remote;
  /** Whose secrets `credentials` names. */
  tenant: string;
}

/**
 * Runs git in reach of a single remote's host, and of nothing on this machine but a single folder. Its answers come from the remote host,
 * and so does the content of the folder.
 */
export interface RemoteGit {
  /**
   * @param call.folder a bare repository of the user `owner`: git's directory, and its working directory
   * @param call.args never a value of a secret
   * @param call.onProgress gets git's lines of progress
   * @returns `stderr` without secrets. `refused`: why the way out refused the host. Throws the reason of an aborted signal
   */
  run(call: {
    runId: string;
    access: RemoteAccess;
    folder: string;
    owner: Owner;
    args: readonly string[];
    onProgress?: ((line: string) => void) | undefined;
    signal?: AbortSignal | undefined;
  }): Promise<{ ok: boolean; stdout: string; stderr: string; refused: string | undefined }>;
}
