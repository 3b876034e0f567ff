import { connect } from 'node:net';

/** A port of loopback where nothing listens. Below 1024: no client and no stub gets such a port by chance. */
export async function closedPort(): Promise<number> {
  for (let port = 600; port < 1024; port++) if (!(await listens(port))) return port;
  throw new Error('a server listens on every port from 600 to 1023');
}

const listens = (port: number): Promise<boolean> =>
  new Promise((answer) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => {
      socket.destroy();
      answer(true);
    });
    socket.once('error', () => answer(false));
  });
