import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { HostProgram } from '@holdpoint/sandbox';

const require = createRequire(import.meta.url);
const source = join(import.meta.dirname, '..');
const inside = '/opt/holdpoint/code-graph';
const mebibyte = 1024 * 1024;

/** The program to parse files. The program sees its own source and the grammars. */
export const parserProgram = (): HostProgram => ({
  name: 'parser of the code graph',
  main: join(source, 'inside/main.ts'),
  // Without this option every WebAssembly memory reserves 10 GiB of addresses, more than permitted by a limit of memory.
  nodeOptions: ['--disable-warning=ExperimentalWarning', '--disable-wasm-trap-handler', '--max-old-space-size=512'],
  files: [
    { host: source, inside: `${inside}/src` },
    { host: join(source, '../package.json'), inside: `${inside}/package.json` },
    ...['@vscode/tree-sitter-wasm'].map((name) => ({
      host: dirname(require.resolve(`${name}/package.json`)),
      inside: `/opt/holdpoint/node_modules/${name}`,
    })),
  ],
  memory_bytes: 2048 * mebibyte,
  // 20,000 facts, the most of a file, have 4 MiB.
  maxLineBytes: 16 * mebibyte,
  idleMs: 60_000,
});
