/**
 * Program: prints the size of a tree and whether directories were unreadable. Arguments: path, and a size: a larger result need not be
 * exact.
 */
import { walk } from './walk.ts';

const [path = '', enough = ''] = process.argv.slice(2);
const { bytes, unreadable } = await walk(path, Number(enough));
process.stdout.write(`${bytes} ${unreadable}`);
