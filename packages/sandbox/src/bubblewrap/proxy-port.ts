/**
 * Port of the proxy on the sandbox's loopback. `inside/listen.mjs` listens there and sends its socket to the worker.
 *
 * A socket belongs to the network namespace in which it was made, in whichever process it is open. So the worker itself accepts the
 * connections to the sandbox's loopback: no process forwards bytes that a command could kill or imitate, and there is no unix socket inside.
 */
export const proxyPort = 3128;
