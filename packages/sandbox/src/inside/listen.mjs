// Runs inside the sandbox, before the command: listens on the loopback of the sandbox's own network namespace and gives the listening
// socket to the worker over the inherited IPC channel. It lives on there; nothing stays behind in here. Argument: the port.
import { createServer } from 'node:net';

const server = createServer();
server.once('error', (error) => {
  process.stderr.write(`The way to the proxy could not be opened: ${error.message}\n`);
  process.exit(1);
});
// the worker hangs up once it has the socket, or has died
process.once('disconnect', () => process.exit(0));
server.listen(Number(process.argv[2]), '127.0.0.1', () => process.send?.('listening', server));
