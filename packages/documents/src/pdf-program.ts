import { createRequire } from 'node:module';
import { join, sep } from 'node:path';
import type { HostProgram } from '@holdpoint/sandbox';

const inside = '/opt/holdpoint/documents';
const mebibyte = 1024 * 1024;

/** PDF.js reads files of any kind, pdf-lib writes new files. The others are imported by pdf-lib. */
const packages = [
  ...['unpdf', '@cantoo/pdf-lib', 'culori', 'fflate', 'html-entities', 'node-html-better-parser'],
  'tslib',
];

/** The program reads hostile files, so it has no network, no file of the run and nothing to write. */
export function pdfProgram(): HostProgram {
  return {
    name: 'reader of PDF files',
    main: join(import.meta.dirname, 'inside/main.ts'),
    nodeOptions: ['--disable-warning=ExperimentalWarning', '--max-old-space-size=768'],
    files: [
      { host: import.meta.dirname, inside: `${inside}/src` },
      { host: join(import.meta.dirname, '../package.json'), inside: `${inside}/package.json` },
      ...packages.map((name) => ({ host: folderOf(name), inside: `/opt/holdpoint/node_modules/${name}` })),
    ],
    memory_bytes: 2048 * mebibyte,
    maxLineBytes: 8 * mebibyte,
    idleMs: 60_000,
  };
}

const require = createRequire(import.meta.url);

function folderOf(name: string): string {
  const entry = require.resolve(name);
  const part = `${sep}node_modules${sep}${name.replaceAll('/', sep)}`;
  return entry.slice(0, entry.lastIndexOf(part) + part.length);
}
