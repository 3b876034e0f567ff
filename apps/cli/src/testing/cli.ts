import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { run } from '../run.ts';

const bundles = process.env.HOLDPOINT_TEST_PROGRAMS;
const sources = fileURLToPath(new URL('../main.ts', import.meta.url));
/** `npm test` makes bundles of the programs, which start with less CPU time. */
export const main = bundles === undefined ? sources : join(bundles, 'cli/cli.js');

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Running {
  child: ChildProcess & { pid: number };
  /** The first line on stdout. Rejects with stderr when the process ends without one. */
  firstLine: Promise<string>;
  ended: Promise<Ended>;
}

/** The caller's environment without its Holdpoint settings. The compile cache saves half a second of CPU time per process. */
function environment(env: Readonly<Record<string, string>>): Record<string, string | undefined> {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(HOLDPOINT_|REDIS_URL|NODE_(?!COMPILE_CACHE)|VITEST|NO_COLOR|FORCE_COLOR)/.test(name),
  );
  return { ...Object.fromEntries(inherited), ...env };
}

/**
 * Starts the command as a process without a terminal.
 * @param as another user; only root can do that. @default this one
 */
export function start(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  as: { uid?: number; gid?: number } = {},
): Running {
  // Bundles are private to the user who makes them.
  const child = spawn(process.execPath, [as.uid === undefined ? main : sources, ...args], {
    ...{ env: environment(env), stdio: ['ignore', 'pipe', 'pipe'] },
    ...as,
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
    ended.then(() => reject(new Error(`it ended without a line on stdout: ${stderr}`)));
  });
  firstLine.catch(() => undefined);
  if (child.pid === undefined) throw new Error('it could not be started');
  return { child: Object.assign(child, { pid: child.pid }), firstLine, ended };
}

/** Whether another user can start the command here. */
export const canStart = (as: { uid: number; gid: number }): boolean =>
  process.getuid?.() === 0 && spawnSync(process.execPath, [sources, '--version'], as).status === 0;

/** Runs the command in this process, which is faster than a new one. */
export async function call(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  /** Standard input. */
  input = '',
): Promise<Ended> {
  const texts = { stdout: '', stderr: '' };
  const into = (name: 'stdout' | 'stderr') =>
    new Writable({
      write(chunk, _encoding, done) {
        texts[name] += String(chunk);
        done();
      },
    });
  const terminal = {
    stdout: into('stdout'),
    stderr: into('stderr'),
    stdin: Readable.from(input === '' ? [] : [input]),
  };
  const path = process.env.PATH ?? '';
  const code = await run({ argv: [...args], env: { PATH: path, ...env }, terminal });
  return { code, ...texts };
}

/** Types each keys once the screen shows the text before them, after what the earlier ones brought; prints screen and exit code as JSON. */
const typist = `
import fcntl, json, os, pty, signal, struct, sys, termios
steps = json.loads(sys.argv[1])
pid, master = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', 50, int(os.environ['TEST_COLUMNS']), 0, 0))
    os.execv(sys.argv[2], sys.argv[2:])
screen, seen = b'', 0
def late(*_):
    os.kill(pid, signal.SIGKILL)
signal.signal(signal.SIGALRM, late)
signal.alarm(90)
while True:
    try:
        read = os.read(master, 65536)
    except OSError:
        break
    if not read: break
    screen += read
    while steps and (at := screen.find(steps[0]['answer'].encode(), seen)) >= 0:
        seen = at + len(steps[0]['answer'].encode())
        os.write(master, steps.pop(0)['keys'].encode())
_, status = os.waitpid(pid, 0)
print(json.dumps({'code': os.waitstatus_to_exitcode(status), 'screen': screen.decode(errors='replace')}))
`;

interface Typed {
  /** Text on the screen that the keys answer. */
  answer: string;
  keys: string;
}

/** The command on a terminal of its own. */
export const callInTerminal = (
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  ...typed: readonly Typed[]
): Promise<{ code: number; screen: string }> => typeInto([process.execPath, main, ...args], env, typed);

/** The command on a terminal of this width; nothing is typed. */
export const callAtWidth = (
  columns: number,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ code: number; screen: string }> => typeInto([process.execPath, main, ...args], env, [], columns);

/** Any program, by its absolute path, on a terminal of its own. */
export async function typeInto(
  program: readonly string[],
  env: Readonly<Record<string, string>>,
  steps: readonly Typed[],
  columns = 200,
): Promise<{ code: number; screen: string }> {
  const child = spawn('python3', ['-c', typist, JSON.stringify(steps), ...program], {
    env: environment({ TERM: 'xterm', TEST_COLUMNS: String(columns), ...env }),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return JSON.parse(await text(child.stdout));
}
