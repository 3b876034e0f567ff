import { posix } from 'node:path';
import { arch, platform } from 'node:process';
import type { ServerStart } from './protocol.ts';

/** Folder of typescript-language-server inside the sandbox. */
export const bridgeInside = '/opt/holdpoint/node_modules/typescript-language-server';

/** The files and programs among which a server is looked for. Paths are relative to the workspace. */
export interface Looking {
  /** The text of a file of the workspace; undefined when there is none. */
  read(path: string): Promise<string | undefined>;
  /** Path inside of a program of the host; undefined when the host has none. */
  onHost(program: string): Promise<string | undefined>;
}

interface Language {
  /** Endings of its files. */
  endings: readonly string[];
  /** Looks in a folder above a file, the nearest first; undefined: no server there. */
  find(folder: string, looking: Looking): Promise<ServerStart | undefined>;
}

const workspace = '/workspace';
const inside = (path: string): string => posix.join(workspace, path);

/** Variables of every server: caches lie in /tmp, the only place to write. */
const env = { HOME: '/tmp', XDG_CACHE_HOME: '/tmp/cache', NO_COLOR: '1' };

const ecmascript: Language = {
  endings: ['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs'],
  async find(folder, { read }) {
    const packages = posix.join(folder, 'node_modules');
    const version = versionIn(await read(posix.join(packages, 'typescript/package.json')));
    if (version === undefined) return undefined;
    const shared = {
      env,
      root: workspace,
      settings: {},
      watches: [...ecmascript.endings, 'package.json', 'tsconfig.json', 'jsconfig.json'],
    };
    if (version >= 7) {
      const native = posix.join(packages, `@typescript/typescript-${platform}-${arch}`);
      if ((await read(posix.join(native, 'package.json'))) === undefined) return undefined;
      return {
        ...shared,
        name: 'tsc --lsp',
        argv: [inside(posix.join(native, 'lib/tsc')), '--lsp', '--stdio'],
        options: {},
      };
    }
    return {
      ...shared,
      name: 'typescript-language-server',
      argv: ['node', `${bridgeInside}/lib/cli.mjs`, '--stdio'],
      options: {
        // Without the project, its second server would take an import for the declaration.
        tsserver: { path: inside(posix.join(packages, 'typescript/lib/tsserver.js')), useSyntaxServer: 'never' },
        // Acquisition of types asks the registry.
        disableAutomaticTypingAcquisition: true,
        maxTsServerMemory: 1536,
      },
    };
  },
};

const python: Language = {
  endings: ['.py', '.pyi'],
  async find(folder, { read, onHost }) {
    const shared = {
      env,
      root: workspace,
      options: {},
      settings: { 'python.analysis': { diagnosticMode: 'openFilesOnly', autoSearchPaths: true } },
      watches: [...python.endings, 'pyproject.toml', 'pyrightconfig.json'],
    };
    const pyright = posix.join(folder, 'node_modules/pyright');
    if ((await read(posix.join(pyright, 'package.json'))) !== undefined)
      return { ...shared, name: 'pyright', argv: ['node', inside(`${pyright}/langserver.index.js`), '--stdio'] };
    if (folder !== '.') return undefined;
    for (const name of ['basedpyright-langserver', 'pyright-langserver']) {
      const program = await onHost(name);
      if (program !== undefined) return { ...shared, name, argv: [program, '--stdio'] };
    }
    return undefined;
  },
};

const go: Language = {
  endings: ['.go'],
  async find(folder, { read, onHost }) {
    if ((await read(posix.join(folder, 'go.mod'))) === undefined) return undefined;
    const program = await onHost('gopls');
    if (program === undefined) return undefined;
    return {
      name: 'gopls',
      argv: [program],
      env: { ...env, GOCACHE: '/tmp/go-build', GOPATH: '/tmp/go', GOPROXY: 'off', GOTOOLCHAIN: 'local' },
      root: inside(folder),
      options: {},
      settings: {},
      watches: [...go.endings, 'go.mod', 'go.sum', 'go.work'],
    };
  },
};

const rust: Language = {
  endings: ['.rs'],
  async find(folder, { read, onHost }) {
    if ((await read(posix.join(folder, 'Cargo.toml'))) === undefined) return undefined;
    const program = await onHost('rust-analyzer');
    if (program === undefined) return undefined;
    // The tree is read-only, so nothing can be built in it.
    const options = { checkOnSave: false, cargo: { buildScripts: { enable: false } }, procMacro: { enable: false } };
    return {
      name: 'rust-analyzer',
      argv: [program],
      env: { ...env, CARGO_NET_OFFLINE: 'true', CARGO_TARGET_DIR: '/tmp/target' },
      root: inside(folder),
      options,
      settings: { 'rust-analyzer': options },
      watches: [...rust.endings, 'Cargo.toml', 'Cargo.lock'],
    };
  },
};

const languages = [ecmascript, python, go, rust];

/** Names of programs to look for on the host. */
export const hostServers = ['basedpyright-langserver', 'pyright-langserver', 'gopls', 'rust-analyzer'] as const;

/** True for a file of a language with a server in the table. */
export const hasServer = (path: string): boolean => languages.some((one) => one.endings.includes(posix.extname(path)));

/** The server of a file's language that is nearest to the file: in its folder or above. */
export async function findServer(path: string, looking: Looking): Promise<ServerStart | undefined> {
  const language = languages.find((one) => one.endings.includes(posix.extname(path)));
  if (language === undefined) return undefined;
  for (const folder of foldersAbove(path)) {
    const found = await language.find(folder, looking);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** From the folder of a file up to the root, which is `.`. */
function foldersAbove(path: string): string[] {
  const folders: string[] = [];
  for (let folder = posix.dirname(path); folder !== '.' && folder !== '/'; folder = posix.dirname(folder))
    folders.push(folder);
  return [...folders, '.'];
}

/** The major version in the text of a package.json. */
function versionIn(text: string | undefined): number | undefined {
  const version = /"version"\s*:\s*"(?<major>\d+)\./.exec(text ?? '')?.groups?.major;
  return version === undefined ? undefined : Number(version);
}
