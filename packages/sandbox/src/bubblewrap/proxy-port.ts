/**
 * Port of the proxy on the sandbox's loopback. `inside/listen.mjs` listens there and sends its socket to the worker.
 *
 * A socket belongs to the network namespace of its making, even when open in a process of another namespace. So the worker accepts the
 * connections to the sandbox's loopback directly. No process forwards bytes, so a command has no forwarder to kill or imitate, and there is
 * no unix socket inside.
 */
export const proxyPort = 3128;
