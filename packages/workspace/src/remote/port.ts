import type { Remote, RemoteSource } from '@holdpoint/contract';
import type { Owner } from '../port.ts';

/** A remote repository, and who reads it. */
export interface RemoteAccess extends Pick<RemoteSource, 'credentials' | 'known_hosts'> {
  remote: Remote;
  /** Whose secrets `credentials` names. */
  tenant: string;
}

/**
 * Runs git where it reaches the host of one remote, and nothing of this machine but one folder. What it answers comes from that host, and so
 * does what it leaves in the folder.
 */
export interface RemoteGit {
  /**
   * @param call.folder a bare repository that belongs to `owner`: git's directory, and its working directory
   * @param call.args never a value of a secret
   * @param call.onProgress gets git's lines of progress
   * @returns `stderr` without secrets. `refused`: why the way out refused the host. Throws what the signal aborts with
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
