import { addServer } from '../change-servers.ts';
import { openServerStore } from '../server-store.ts';
import { serverSchema } from '../servers.ts';

/** A process that adds servers one after the other, and prints each name once it is acknowledged. */
const [, , file = '', dataDir = '', word = '', count = '0'] = process.argv;
const store = await openServerStore(file, dataDir);
for (let index = 0; index < Number(count); index++) {
  const name = `${word}${index}`;
  await addServer(store, { name, server: serverSchema.parse({ command: name }), by: { name: word } });
  process.stdout.write(`${name}\n`);
}
