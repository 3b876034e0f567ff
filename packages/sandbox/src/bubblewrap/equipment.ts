import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SandboxError } from '../errors.ts';
import { showableParts, whySecret } from '../toolchain-secrets.ts';

/** A host path shown read-only at a path inside. */
export interface ReadOnlyMount {
  host: string;
  inside: string;
}

/** What the host lends to every sandbox, beside /usr. */
export interface Equipment {
  command: ReadOnlyMount[];
  /** In addition, for tool hosts. */
  toolHost: ReadOnlyMount[];
  /** Symbolic links to make: [target, path]. */
  links: [string, string][];
  /** Directories to put on PATH, first first. */
  path: string[];
}

export const INSIDE = '/opt/holdpoint';
/** Where bubblewrap puts what a command reads as its standard input. */
export const STDIN_FILE = `${INSIDE}/stdin`;
const require = createRequire(import.meta.url);

/** Host directory of the files that only run inside: the first program, the tool host, a small /etc. */
const insideDirectory = fileURLToPath(new URL('../inside', import.meta.url));

/**
 * @param input.node the running Node binary; commands find it on PATH, with its npm where that lies beside it
 * @param input.ripgrep ripgrep's binary on the host
 * @param input.toolchains directories shown at their own path; their `bin` goes on PATH, or they do themselves when that is their name
 */
export function gatherEquipment(input: { node: string; ripgrep: string; toolchains: readonly string[] }): Equipment {
  const node = realpathSync(input.node);
  const npm = join(dirname(dirname(node)), 'lib/node_modules/npm');
  const hasNpm = existsSync(join(npm, 'bin/npm-cli.js'));
  const toolchains = input.toolchains.map(checkToolchain);
  return {
    command: [
      { host: insideDirectory, inside: `${INSIDE}/inside` },
      { host: node, inside: `${INSIDE}/node/bin/node` },
      { host: realpathSync(input.ripgrep), inside: `${INSIDE}/bin/rg` },
      ...(hasNpm ? [{ host: realpathSync(npm), inside: `${INSIDE}/node/lib/node_modules/npm` }] : []),
      ...toolchains.map((path) => ({ host: path, inside: path })),
    ],
    toolHost: [
      // says that the tool host's files are ES modules
      { host: fileURLToPath(new URL('../../package.json', import.meta.url)), inside: `${INSIDE}/package.json` },
      ...packageClosure('fast-glob'),
    ],
    links: [
      // a link costs nothing, a mount 0.3 ms
      ...['passwd', 'group', 'hosts'].map((name): [string, string] => [`${INSIDE}/inside/etc/${name}`, `/etc/${name}`]),
      ...(hasNpm ? ['npm', 'npx'] : []).map((name): [string, string] => [
        `../lib/node_modules/npm/bin/${name}-cli.js`,
        `${INSIDE}/node/bin/${name}`,
      ]),
    ],
    path: [`${INSIDE}/node/bin`, ...toolchains.map(binOf).filter((bin) => existsSync(bin))],
  };
}

/** A directory of programs alone, such as ~/.cargo/bin, goes on PATH itself. */
function binOf(toolchain: string): string {
  return basename(toolchain) === 'bin' ? toolchain : join(toolchain, 'bin');
}

function checkToolchain(path: string): string {
  const hidden = [
    ...['/', '/proc', '/dev', '/tmp', '/workspace', '/opt', '/etc'],
    ...['/home', '/root', '/var', '/run', '/sys', '/boot'],
  ];
  if (!path.startsWith('/') || hidden.includes(path.replace(/\/+$/, '') || '/') || !existsSync(path)) {
    throw new SandboxError(
      'ESANDBOXMISSING',
      `The toolchain ${JSON.stringify(path)} is not a directory that can be shown.`,
      {
        retryable: false,
        next: 'Name the absolute path of one existing toolchain directory.',
      },
    );
  }
  const why = whySecret(path);
  if (why !== null) {
    const instead = showableParts(path);
    throw new SandboxError(
      'ESANDBOXMISSING',
      `The toolchain ${JSON.stringify(path)} ${why}, which sandboxes must not see.`,
      {
        retryable: false,
        next:
          instead.length === 0
            ? 'Name only the directories in it that tasks need, or install the toolchain elsewhere.'
            : `Name only the parts that tasks need: HOLDPOINT_TOOLCHAINS=${instead.join(':')}`,
      },
    );
  }
  return path;
}

/** A package and all that it needs, keeping its place relative to node_modules; packages nested in another come with it. */
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
  const paths = [...found].map((host) => ({ host, inside: `${INSIDE}/node_modules/${relative(root, host)}` }));
  return paths.filter(({ inside }) => !inside.slice(`${INSIDE}/node_modules/`.length).includes('/node_modules/'));
}

function findPackage(from: string, name: string): string {
  for (let directory = from; directory !== dirname(directory); directory = dirname(directory)) {
    const candidate = join(directory, 'node_modules', name);
    if (existsSync(join(candidate, 'package.json'))) return candidate;
  }
  throw new SandboxError('ESANDBOXMISSING', `The package ${name}, needed by ${from}, is not installed.`, {
    retryable: false,
    next: 'Run `npm run setup`.',
  });
}
