import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, linkSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The programs for lines to name. The shell reports any other program as missing. */
const programs =
  'bash sh dash cat ls git grep head wc sort find sed awk xargs env nice nohup timeout stdbuf time rm cp mv touch tee evil evil2 make node npm test [ printf echo true false';

/** Programs replaced by the real programs after a note: their children are judged as well. */
const real = 'bash sh:dash dash env nice nohup timeout find xargs'.split(' ').map((entry) => {
  const [name = '', program = name] = entry.split(':');
  return { name, path: ['/usr/bin', '/bin'].map((folder) => `${folder}/${program}`).find(existsSync) };
});

/** A root directory for the sandbox with shells, their needs, and stand-ins for programs. */
export interface SmallRoot extends Disposable {
  directory: string;
  /** The stand-ins. A line may find them below its own folder, too. */
  bin: string;
  /** Arguments of bubblewrap to mount the root. */
  mounts: string[];
}

export function makeSmallRoot({ compiled = true } = {}): SmallRoot {
  const directory = mkdtempSync(join(tmpdir(), 'hp-shell-'));
  const bin = join(directory, 'bin');
  mkdirSync(bin);
  const standIn = join(directory, 'stand-in');
  if (!compiled || !compile(standIn)) copyScript(standIn);
  for (const name of programs.split(' ')) linkSync(standIn, join(bin, name));
  const found = real.flatMap(({ name, path }) => (path === undefined ? [] : [{ name, path }]));
  const libraries = new Set(found.flatMap(({ path }) => librariesOf(path)));
  return {
    directory,
    bin,
    mounts: [
      ...[...libraries].flatMap((path) => ['--ro-bind', path, path]),
      ...found.flatMap(({ name, path }) => ['--ro-bind', path, `/real/${name}`]),
      ...['--ro-bind', bin, '/usr/bin', '--symlink', 'usr/bin', '/bin'],
    ],
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** A start of the compiled program takes a third of the time. */
function compile(target: string): boolean {
  const source = fileURLToPath(new URL('stand-in.c', import.meta.url));
  for (const how of [['-static'], []])
    try {
      execFileSync('cc', ['-O1', ...how, '-o', target, source], { stdio: 'ignore' });
      return true;
    } catch {}
  return false;
}

function copyScript(target: string): void {
  copyFileSync(fileURLToPath(new URL('stand-in.sh', import.meta.url)), target);
  chmodSync(target, 0o755);
}

function librariesOf(program: string): string[] {
  return (
    execFileSync('ldd', [program], { encoding: 'utf8' })
      .match(/\/\S+/g)
      ?.filter((path) => !path.endsWith(':')) ?? []
  );
}
