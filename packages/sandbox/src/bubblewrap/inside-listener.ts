import type { ChildProcess } from 'node:child_process';
import { Server } from 'node:net';
import { SandboxError } from '../errors.ts';

/** Port of the proxy on the sandbox's loopback. */
export const proxyPort = 3128;

/**
 * Receives the listening socket that `inside/listen.mjs` sends over the subprocess's IPC channel, then disconnects.
 *
 * A socket belongs to the network namespace in which it was made, in whichever process it is open. So the worker itself accepts the
 * connections to the sandbox's loopback: no process forwards bytes that a command could kill or imitate, and there is no unix socket inside.
 *
 * Throws `SandboxError` ESANDBOXSETUP when the channel closes without a socket.
 */
export function receiveListener(subprocess: ChildProcess): Promise<Server> {
  const { promise, resolve, reject } = Promise.withResolvers<Server>();
  subprocess.once('message', (_message, handle) => {
    if (handle instanceof Server) resolve(handle);
    if (subprocess.connected) subprocess.disconnect();
  });
  const lost = () => {
    const next = 'Run `holdpoint doctor` on this host when it happens again.';
    reject(
      new SandboxError('ESANDBOXSETUP', "The sandbox's way to the proxy could not be opened.", {
        retryable: true,
        next,
      }),
    );
  };
  subprocess.once('disconnect', lost);
  subprocess.once('exit', lost);
  return promise;
}
