import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { HostProgram } from '@holdpoint/sandbox';
import { bridgeInside } from './servers.ts';

const require = createRequire(import.meta.url);
const source = import.meta.dirname;
const inside = '/opt/holdpoint/language-servers';
const mebibyte = 1024 * 1024;

/**
 * The program starts a language server and speaks LSP with the server. Both run in the sandbox on the run's tree, read-only: the server is a program of
 * the workspace, and may say anything. The worker reads only the program's answers, within bounds.
 */
export const serverProgram = (): HostProgram => ({
  name: 'language server',
  main: join(source, 'inside/main.ts'),
  nodeOptions: ['--disable-warning=ExperimentalWarning'],
  files: [
    { host: source, inside: `${inside}/src` },
    { host: join(source, '../package.json'), inside: `${inside}/package.json` },
    {
      host: folderOf(require.resolve('vscode-jsonrpc/node'), 'vscode-jsonrpc'),
      inside: '/opt/holdpoint/node_modules/vscode-jsonrpc',
    },
    { host: dirname(require.resolve('typescript-language-server/package.json')), inside: bridgeInside },
  ],
  memory_bytes: 4096 * mebibyte,
  // A server of Go or Rust keeps compiled packages in /tmp.
  limits: { processes: 256, file_bytes: 256 * mebibyte },
  maxLineBytes: 4 * mebibyte,
  idleMs: 300_000,
});

/** The folder of a package whose exports do not name its package.json. */
function folderOf(path: string, name: string): string {
  return path.slice(0, path.lastIndexOf(`/node_modules/${name}/`) + `/node_modules/${name}`.length);
}
