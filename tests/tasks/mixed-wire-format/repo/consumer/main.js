import { readFileSync } from 'node:fs';
import { decode } from './decode.js';

for (const record of decode(readFileSync(0))) process.stdout.write(`${JSON.stringify(record)}\n`);
