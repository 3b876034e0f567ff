import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, linkSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What lines may name. Anything else is not found, which the shell reports. */
const programs =
  'bash sh dash cat ls git grep head wc sort find sed awk xargs env time rm cp mv touch tee evil evil2 make node npm test [ printf echo true false';

/** A root directory for the sandbox that has shells, what they need, and stand-ins for programs. */
export interface SmallRoot extends Disposable {
  directory: string;
  /** Arguments of bubblewrap that mount it. */
  mounts: string[];
}

export function makeSmallRoot({ compiled = true } = {}): SmallRoot {
  const directory = mkdtempSync(join(tmpdir(), 'hp-shell-'));
  const bin = join(directory, 'bin');
  mkdirSync(bin);
  const standIn = join(directory, 'stand-in');
  if (!compiled || !compile(standIn)) copyScript(standIn);
  for (const name of programs.split(' ')) linkSync(standIn, join(bin, name));
  const shells = ['/bin/bash', '/bin/dash'];
  const libraries = new Set(shells.flatMap(librariesOf));
  return {
    directory,
    mounts: [
      ...[...libraries].flatMap((path) => ['--ro-bind', path, path]),
      ...shells.flatMap((path) => ['--ro-bind', path, `/shells/${path.slice(5)}`]),
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
