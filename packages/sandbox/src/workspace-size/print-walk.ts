/** Program: prints the size of a tree, and whether directories of it were closed. Arguments: path, size from which on it need not be exact. */
import { walk } from './walk.ts';

const [path = '', enough = ''] = process.argv.slice(2);
const { bytes, closed } = await walk(path, Number(enough));
process.stdout.write(`${bytes} ${closed}`);
