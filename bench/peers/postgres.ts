import { execFile, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { killWithParent } from '@holdpoint/embedded-redis/testing';

const projectDir = fileURLToPath(new URL('../..', import.meta.url));
const unpacked = join(projectDir, '.cache/postgresql');
const run = promisify(execFile);

export interface Postgres {
  /** A connection string without a database. */
  url(database: string): string;
  /** The server and its children. */
  pids(): number[];
  stop(): Promise<void>;
}

/** The system's programs, or the unpacked programs of Debian's package. @throws when both are missing */
async function findPostgres(): Promise<string> {
  const installed = newestIn('/usr/lib/postgresql') ?? newestIn(join(unpacked, 'usr/lib/postgresql'));
  if (installed !== undefined) return installed;
  const versions = ['18', '17', '16', '15', '14', '13'].map((version) => `postgresql-${version}`);
  const script = join(projectDir, 'scripts/get-debian-package.sh');
  const lists = join(projectDir, '.cache/apt');
  const fresh = `${unpacked}.new`;
  try {
    await run('sh', [script, fresh, lists, ...versions], { env: { ...process.env, KEEP_SHARE: '1' } });
    renameSync(fresh, unpacked);
  } catch (cause) {
    throw new Error("PostgreSQL is not installed, and this system's package sources could not give it", { cause });
  } finally {
    for (const path of [fresh, lists]) rmSync(path, { recursive: true, force: true });
  }
  const found = newestIn(join(unpacked, 'usr/lib/postgresql'));
  if (found === undefined) throw new Error('no package of this system has PostgreSQL');
  return found;
}

function newestIn(directory: string): string | undefined {
  const versions = existsSync(directory) ? readdirSync(directory).map(Number) : [];
  const [newest] = versions.toSorted((one, other) => other - one).map((version) => join(directory, `${version}/bin`));
  return newest !== undefined && existsSync(join(newest, 'initdb')) ? newest : undefined;
}

const nobody = 65_534;

/**
 * Starts PostgreSQL with its defaults (fsync and synchronous commits) on a socket in a temporary directory. PostgreSQL refuses to run as
 * root.
 */
export async function startPostgres(): Promise<Postgres> {
  const isRoot = process.getuid?.() === 0;
  const user = isRoot ? { uid: nobody, gid: nobody } : {};
  const directory = mkdtempSync(join(tmpdir(), 'hp-postgres-'));
  if (isRoot) chownSync(directory, nobody, nobody);
  const bin = await reachable(await findPostgres(), directory, user);
  const options = { ...user, cwd: directory, env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', ...librariesOf(bin) } };
  const data = join(directory, 'data');
  await run(join(bin, 'initdb'), ['-D', data, '-U', 'bench', '-A', 'trust', '--no-locale', '-E', 'UTF8'], options);
  const server = spawn(join(bin, 'postgres'), ['-D', data, '-k', directory, '-c', 'listen_addresses='], {
    ...options,
    stdio: 'ignore',
  });
  const pid = server.pid ?? 0;
  killWithParent(pid);
  for (let left = 300; !existsSync(join(directory, '.s.PGSQL.5432')); left--) {
    if (left === 0 || server.exitCode !== null) throw new Error('PostgreSQL did not start');
    await delay(100);
  }
  return {
    url: (database) => `postgresql://bench@localhost/${database}?host=${directory}`,
    pids: () => [pid, ...childrenOf(pid)],
    async stop() {
      const gone = new Promise((resolve) => server.once('exit', resolve));
      server.kill('SIGQUIT');
      await gone;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Programs in reach of the server's user: copied when they lie below a closed home. */
async function reachable(bin: string, directory: string, user: { uid?: number; gid?: number }): Promise<string> {
  const isReachable = await run(join(bin, 'postgres'), ['--version'], { ...user, env: librariesOf(bin) }).then(
    () => true,
    () => false,
  );
  if (isReachable) return bin;
  const copy = join(directory, 'programs');
  cpSync(unpacked, copy, { recursive: true });
  chmodSync(copy, 0o755);
  return bin.replace(unpacked, copy);
}

/** Where the unpacked package has its libraries. */
function librariesOf(bin: string): Record<string, string> {
  const root = bin.slice(0, bin.indexOf('/usr/lib/postgresql'));
  if (root === '') return {};
  const places = ['usr/lib', 'lib'].flatMap((place) => {
    const whole = join(root, place);
    return existsSync(whole) ? [whole, ...readdirSync(whole).map((name) => join(whole, name))] : [];
  });
  return { LD_LIBRARY_PATH: places.join(':') };
}

function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((other) => other > 0 && parentOf(other) === pid);
}

function parentOf(pid: number): number | undefined {
  try {
    return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    // The process has ended.
    return undefined;
  }
}
