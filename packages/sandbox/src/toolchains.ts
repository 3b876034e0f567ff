import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { delimiter, dirname, join, sep } from 'node:path';
import { showableParts } from './toolchain-secrets.ts';

/** Runtimes of the host, invisible in sandboxes, and the directory to mount. */
export interface Toolchain {
  directory: string;
  /** The directory, or its parts without secrets: values for `OpenSandboxOptions.toolchains`. */
  show: string[];
  /** Names of the programs in the directory's `bin`, sorted. */
  programs: string[];
}

/** Programs commonly called in runs. Ripgrep is missing because every sandbox has the worker's ripgrep. */
const runtimes = [
  ...['node', 'npm'],
  ...['python3', 'pip3', 'uv', 'poetry', 'go', 'cargo', 'rustc', 'java', 'javac', 'mvn', 'gradle', 'kotlinc', 'scala'],
  ...['ruby', 'bundle', 'php', 'composer', 'perl', 'lua', 'bun', 'deno', 'pnpm', 'yarn', 'dotnet', 'swift', 'zig'],
  ...['elixir', 'erl', 'ghc', 'ocaml', 'R', 'julia', 'gcc', 'clang', 'make', 'cmake', 'ninja'],
];

/** Host directories visible in every sandbox. */
const shown = ['/usr', '/bin', '/sbin', '/lib', '/lib64'];

/**
 * Finds runtimes on the search path and invisible in sandboxes. The result leaves out runtimes installed in the system as well. A shim of a
 * version manager is reported at its own path, because its target is unknown.
 *
 * @param path a search path, as in $PATH
 * @param options.project directory of programs not to count as the host's
 * @param options.mounted toolchain directories already visible in sandboxes
 */
export function findToolchains(
  path: string,
  options: { project?: string; mounted?: readonly string[] } = {},
): Toolchain[] {
  const directories = [...new Set(path.split(delimiter).filter((part) => part.startsWith('/')))];
  const visible = [...shown, ...(options.mounted ?? [])];
  const found = new Map<string, Set<string>>();
  for (const program of runtimes) {
    const files = directories.flatMap((directory) => resolve(join(directory, program)));
    if (files.some(({ real }) => visible.some((parent) => isInside(real, parent)))) continue;
    const [first] = files.filter(({ real }) => !options.project || !isInside(real, options.project));
    const directory = first && mountDirectory(first);
    if (!directory) continue;
    found.set(directory, (found.get(directory) ?? new Set()).add(program));
  }
  return [...found]
    .map(([directory, programs]) => ({ directory, show: showableParts(directory), programs: [...programs].sort() }))
    .sort((one, other) => (one.directory < other.directory ? -1 : 1));
}

interface ProgramFile {
  /** Path on the search path. */
  path: string;
  /** Path without symbolic links. */
  real: string;
}

/** The directory above `bin`: above the link's target when the target lies in a `bin`, else above the link. */
function mountDirectory({ path, real }: ProgramFile): string | null {
  const candidates = [real, path]
    .filter((file) => dirname(file).endsWith(`${sep}bin`))
    .map((file) => dirname(dirname(file)));
  return candidates.find((directory) => directory !== '/') ?? null;
}

function resolve(path: string): ProgramFile[] {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile() ? [{ path, real: realpathSync(path) }] : [];
  } catch {
    return [];
  }
}

function isInside(path: string, directory: string): boolean {
  return path.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}
