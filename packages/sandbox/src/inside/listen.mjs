// Runs inside the sandbox, before the command: listens on the loopback of the sandbox's network namespace and sends the listening socket to
// the worker over the inherited IPC channel. Only the worker keeps the socket. Argument: the port.
import { createServer } from 'node:net';

const server = createServer();
server.once('error', (error) => {
  process.stderr.write(`The way to the proxy could not be opened: ${error.message}\n`);
  process.exit(1);
});
// The worker disconnects after getting the socket, or by dying.
process.once('disconnect', () => process.exit(0));
server.listen(Number(process.argv[2]), '127.0.0.1', () => process.send?.('listening', server));
