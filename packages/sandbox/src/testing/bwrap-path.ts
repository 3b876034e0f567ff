import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';

const parts = join(import.meta.dirname, '../../../../.cache/bubblewrap');
const unpacked = join(parts, 'usr/bin/bwrap');
const linked = join(parts, 'bin/bwrap');

/** The program itself, as the set-up has unpacked it or linked it from the system: tests copy it and compare its content. */
export const bwrapPath = !existsSync(unpacked) && existsSync(linked) ? realpathSync(linked) : unpacked;
