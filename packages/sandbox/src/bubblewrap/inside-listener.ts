import type { ChildProcess } from 'node:child_process';
import { Server } from 'node:net';
import { SandboxError } from '../errors.ts';

/** Where programs inside find the proxy. */
export const PROXY_PORT = 3128;

/**
 * Takes the listening socket that `inside/listen.mjs` sends over a subprocess's IPC channel, and hangs up.
 *
 * A socket belongs to the network namespace in which it was made, whoever holds it. So the worker itself accepts what arrives at the
 * sandbox's loopback: there is no process to forward bytes, none that a command could kill or imitate, and no unix socket inside.
 *
 * Throws `SandboxError` ESANDBOXSETUP when the channel ends without one.
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
