import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { run } from '../run.ts';

const main = fileURLToPath(new URL('../main.ts', import.meta.url));

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Running {
  child: ChildProcess & { pid: number };
  /** The first line on stdout; rejects with what is on stderr when it ends without one. */
  firstLine: Promise<string>;
  ended: Promise<Ended>;
}

/** The command as a process of its own, without a terminal. Nothing of the caller's Holdpoint settings reaches it. */
export function start(args: readonly string[], env: Readonly<Record<string, string>>): Running {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(HOLDPOINT_|REDIS_URL|NODE_|VITEST|NO_COLOR|FORCE_COLOR)/.test(name),
  );
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...Object.fromEntries(inherited), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  const ended = once(child, 'close').then(([code]): Ended => ({ code, stdout, stderr }));
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  const firstLine = new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text;
      if (stdout.includes('\n')) resolve(stdout.slice(0, stdout.indexOf('\n')));
    });
    ended.then(() => reject(new Error(`it ended without a word on stdout: ${stderr}`)));
  });
  firstLine.catch(() => undefined);
  if (child.pid === undefined) throw new Error('it could not be started');
  return { child: Object.assign(child, { pid: child.pid }), firstLine, ended };
}

/** The command in this process, which is faster: for all that does not stay, or wait for a signal. */
export async function call(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Ended> {
  const texts = { stdout: '', stderr: '' };
  const into = (name: 'stdout' | 'stderr') =>
    new Writable({
      write(chunk, _encoding, done) {
        texts[name] += String(chunk);
        done();
      },
    });
  const terminal = { stdout: into('stdout'), stderr: into('stderr'), stdin: Readable.from([]) };
  const path = process.env.PATH ?? '';
  const code = await run({ argv: [...args], env: { PATH: path, ...env }, terminal });
  return { code, ...texts };
}
