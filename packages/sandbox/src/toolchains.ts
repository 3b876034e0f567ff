import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { delimiter, dirname, join, sep } from 'node:path';
import { showableParts } from './toolchain-secrets.ts';

/** Runtimes of the host that no sandbox shows, with the directories that would show them. */
export interface Toolchain {
  directory: string;
  /** The directory, or those parts of it that hold no secrets. To be mounted read-only: `OpenSandboxOptions.toolchains`. */
  show: string[];
  /** Names of the programs in its `bin`, sorted. */
  programs: string[];
}

/** What tasks commonly call. Node, npm and ripgrep are not among them: every sandbox has the worker's own. */
const runtimes = [
  ...['python3', 'pip3', 'uv', 'poetry', 'go', 'cargo', 'rustc', 'java', 'javac', 'mvn', 'gradle', 'kotlinc', 'scala'],
  ...['ruby', 'bundle', 'php', 'composer', 'perl', 'lua', 'bun', 'deno', 'pnpm', 'yarn', 'dotnet', 'swift', 'zig'],
  ...['elixir', 'erl', 'ghc', 'ocaml', 'R', 'julia', 'gcc', 'clang', 'make', 'cmake', 'ninja'],
];

/** What every sandbox shows of the host. */
const shown = ['/usr', '/bin', '/sbin', '/lib', '/lib64'];

/**
 * Finds the runtimes on the search path that lie outside of what sandboxes show. One that the system has, too, is left out: a task finds
 * that. A program of a version manager that only chooses another (a shim) is found at its own place, which is all that can be told of it.
 *
 * @param path a search path, as in $PATH
 * @param options.project directory whose own programs are none of the host's
 * @param options.mounted toolchain directories that are shown already
 */
export function findToolchains(
  path: string,
  options: { project?: string; mounted?: readonly string[] } = {},
): Toolchain[] {
  const directories = [...new Set(path.split(delimiter).filter((part) => part.startsWith('/')))];
  const visible = [...shown, ...(options.mounted ?? [])];
  const found = new Map<string, Set<string>>();
  for (const program of runtimes) {
    const places = directories.flatMap((directory) => resolve(join(directory, program)));
    if (places.some(({ real }) => visible.some((parent) => isInside(real, parent)))) continue;
    const [first] = places.filter(({ real }) => !options.project || !isInside(real, options.project));
    const directory = first && mountOf(first);
    if (!directory) continue;
    found.set(directory, (found.get(directory) ?? new Set()).add(program));
  }
  return [...found]
    .map(([directory, programs]) => ({ directory, show: showableParts(directory), programs: [...programs].sort() }))
    .sort((one, other) => (one.directory < other.directory ? -1 : 1));
}

interface Place {
  /** On the search path. */
  path: string;
  /** Where the links lead. */
  real: string;
}

/** The directory above `bin`. A link may lead out of it; then its target's is what must be shown, if that has a `bin` as well. */
function mountOf({ path, real }: Place): string | null {
  const candidates = [real, path]
    .filter((file) => dirname(file).endsWith(`${sep}bin`))
    .map((file) => dirname(dirname(file)));
  return candidates.find((directory) => directory !== '/') ?? null;
}

function resolve(path: string): Place[] {
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
