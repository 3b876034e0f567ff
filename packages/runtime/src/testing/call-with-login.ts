import { once } from 'node:events';
import { openLoginHost } from './login-host.ts';

/** A process of its own that calls a server with a login, as soon as its input ends. Arguments: address, data directory, key of the store, and the milliseconds that its clock is ahead. */
const [url = '', dataDir = '', key = '', ahead] = process.argv.slice(2);
const host = Object.assign(openLoginHost({ dataDir, key }), { ahead: Number(ahead) });
process.stdout.write('ready\n');
process.stdin.resume();
await once(process.stdin, 'end');
process.stdout.write(`${JSON.stringify(await host.call(url))}\n`);
