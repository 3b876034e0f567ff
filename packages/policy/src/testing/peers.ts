import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The rows of a table of another project, or `undefined` when it is not there. `HOLDPOINT_PEERS` names the folder. */
export function readPeerRows<Row>(file: string): Row[] | undefined {
  const folder = process.env.HOLDPOINT_PEERS ?? path.resolve('../shared/peers');
  const table = path.join(folder, file);
  if (!existsSync(table)) return undefined;
  return JSON.parse(readFileSync(table, 'utf8')).rows;
}
