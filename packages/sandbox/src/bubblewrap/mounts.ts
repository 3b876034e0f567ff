import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';
import { SandboxError } from '../errors.ts';
import { binOf } from '../runtimes.ts';
import { showableParts, whySecret } from '../toolchain-secrets.ts';
import type { ReadOnlyMount } from '../tree.ts';

/** The host's files in every sandbox, in addition to /usr. */
export interface Mounts {
  command: ReadOnlyMount[];
  /** Additional mounts of tool hosts. */
  toolHost: ReadOnlyMount[];
  /** Symbolic links: [target, path]. */
  links: [string, string][];
  /** Directories on PATH before the system's directories, in order. `last`: directories after the system's. */
  path: string[];
  last: string[];
  toolchains: readonly string[];
}

export const holdpointDirectory = '/opt/holdpoint';
/** Folder inside with the links to the chosen runtimes of a run. */
export const firstBin = `${holdpointDirectory}/first/bin`;
/** Folder inside with Holdpoint's own Node and npm. */
const ownBin = `${holdpointDirectory}/node/bin`;
/** Path inside of the first program and a small /etc. */
export const insideFiles = `${holdpointDirectory}/inside`;
/** Path inside of a command's standard input, as a file. */
export const stdinFile = `${holdpointDirectory}/stdin`;
/** Path inside of the trusted certificates for a command with intercepted hosts. */
export const certificateFile = `${holdpointDirectory}/certificates.pem`;
const require = createRequire(import.meta.url);

/** Host directory of the files for use inside only: the first program, the tool host, a small /etc. */
const hostInsideDirectory = join(import.meta.dirname, '../inside');

/**
 * @param input.node the running Node binary. Commands find this Node last on PATH, with the npm of the same installation
 * @param input.ripgrep ripgrep's binary on the host
 * @param input.toolchains directories mounted at their own path. Their `bin` is added to PATH, or a whole directory with the name `bin`
 */
export function collectMounts(input: { node: string; ripgrep: string; toolchains: readonly string[] }): Mounts {
  const node = realpathSync(input.node);
  const npm = join(dirname(dirname(node)), 'lib/node_modules/npm');
  const hasNpm = existsSync(join(npm, 'bin/npm-cli.js'));
  const toolchains = input.toolchains.map(checkToolchain);
  return {
    command: [
      { host: hostInsideDirectory, inside: insideFiles },
      { host: node, inside: `${holdpointDirectory}/node/bin/node` },
      { host: realpathSync(input.ripgrep), inside: `${holdpointDirectory}/bin/rg` },
      ...(hasNpm ? [{ host: realpathSync(npm), inside: `${holdpointDirectory}/node/lib/node_modules/npm` }] : []),
      ...toolchains.map((path) => ({ host: path, inside: path })),
    ],
    toolHost: [
      // marks the tool host's files as ES modules
      {
        host: join(import.meta.dirname, '../../package.json'),
        inside: `${holdpointDirectory}/package.json`,
      },
      ...packageClosure('fast-glob'),
      ...packageClosure('picomatch'),
    ],
    links: [
      // A link costs nothing, a mount 0.3 ms.
      ...['passwd', 'group', 'hosts'].map((name): [string, string] => [
        `${holdpointDirectory}/inside/etc/${name}`,
        `/etc/${name}`,
      ]),
      ...(hasNpm ? ['npm', 'npx'] : []).map((name): [string, string] => [
        `../lib/node_modules/npm/bin/${name}-cli.js`,
        `${holdpointDirectory}/node/bin/${name}`,
      ]),
    ],
    path: toolchains.map(binOf).filter((bin) => existsSync(bin)),
    // Last on PATH: a project runs on the machine's Node, and on Holdpoint's own Node only when the machine has no Node.
    last: [ownBin],
    toolchains,
  };
}

function checkToolchain(path: string): string {
  const hidden = [
    ...['/', '/proc', '/dev', '/tmp', '/workspace', '/opt', '/etc'],
    ...['/home', '/root', '/var', '/run', '/sys', '/boot'],
  ];
  if (!path.startsWith('/') || hidden.includes(path.replace(/\/+$/, '') || '/') || !existsSync(path)) {
    throw new SandboxError(
      'ESANDBOXMISSING',
      `The toolchain ${JSON.stringify(path)} is not a directory that sandboxes may see.`,
      {
        retryable: false,
        next: 'Name the absolute path of an existing toolchain directory.',
      },
    );
  }
  const why = whySecret(path);
  if (why !== null) {
    const instead = showableParts(path);
    throw new SandboxError(
      'ESANDBOXMISSING',
      `The toolchain ${JSON.stringify(path)} ${why}. Sandboxes must not see it.`,
      {
        retryable: false,
        next:
          instead.length === 0
            ? 'Name only the subdirectories that runs need, or install the toolchain elsewhere.'
            : `Name only the parts that runs need: HOLDPOINT_TOOLCHAINS=${instead.join(':')}`,
      },
    );
  }
  return path;
}

/** A package and all its dependencies, at their paths relative to node_modules. Nested packages come with their parent. */
function packageClosure(name: string): ReadOnlyMount[] {
  const first = dirname(require.resolve(`${name}/package.json`));
  const root = first.slice(0, first.lastIndexOf(`${sep}node_modules${sep}`) + '/node_modules'.length);
  const found = new Set<string>();
  const visit = (directory: string) => {
    if (found.has(directory)) return;
    found.add(directory);
    const { dependencies } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as {
      dependencies?: Record<string, string>;
    };
    for (const dependency of Object.keys(dependencies ?? {})) visit(findPackage(directory, dependency));
  };
  visit(first);
  const paths = [...found].map((host) => ({
    host,
    inside: `${holdpointDirectory}/node_modules/${relative(root, host)}`,
  }));
  return paths.filter(
    ({ inside }) => !inside.slice(`${holdpointDirectory}/node_modules/`.length).includes('/node_modules/'),
  );
}

function findPackage(from: string, name: string): string {
  for (let directory = from; directory !== dirname(directory); directory = dirname(directory)) {
    const candidate = join(directory, 'node_modules', name);
    if (existsSync(join(candidate, 'package.json'))) return candidate;
  }
  throw new SandboxError('ESANDBOXMISSING', `The package ${name}, which ${from} needs, is not installed.`, {
    retryable: false,
    next: 'Run `npm run setup`.',
  });
}
