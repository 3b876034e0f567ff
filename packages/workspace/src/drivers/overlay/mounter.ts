import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The actions of the mounter. Its program documents the arguments. */
type Verb = 'mount' | 'adopt' | 'move' | 'umount' | 'detach';

/** Environment of the mounting programs. */
export const hostEnv = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };

export class MountError extends Error {
  override readonly name = 'MountError';
  /** Whether the kernel said EBUSY. */
  readonly isBusy: boolean;

  constructor(message: string, errno?: number) {
    super(message);
    this.isBusy = errno === ebusy;
  }
}

const ebusy = 16;

/** A request without an answer by then has failed, ms. Its process may still execute the request. */
const timeoutMs = 60_000;
export const mounterProgram = fileURLToPath(new URL('mounter.pl', import.meta.url));

/** A request in the program's form. */
export const requestLine = (id: number, verb: Verb, args: readonly string[]): string =>
  `${[id, verb, ...args.map((arg) => Buffer.from(arg).toString('hex'))].join(' ')}\n`;

let running: Mounter | undefined;

/**
 * Asks the mounter of this process, started at its first use: a fork of a worker takes 9 ms, a fork of the mounter 1 ms.
 * @param paths and other arguments, by the verb
 * @throws MountError for a refusal of the kernel
 */
export async function askMounter(verb: Verb, args: readonly string[]): Promise<void> {
  running ??= new Mounter(() => {
    running = undefined;
  });
  await running.ask(verb, args);
}

interface Pending {
  resolve(): void;
  reject(error: MountError): void;
  timer: NodeJS.Timeout;
}

class Mounter {
  readonly #subprocess: ChildProcess;
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;
  #stderr = '';

  constructor(onEnd: () => void) {
    this.#subprocess = spawn('perl', [mounterProgram], {
      env: hostEnv,
      cwd: '/',
      // A signal for the group of the worker would end the mounter in the middle of a mount.
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const { stdin, stdout, stderr } = this.#subprocess;
    const end = (error?: Error) => {
      onEnd();
      const message = error?.message ?? (this.#stderr.trim() || 'the process that mounts has ended');
      for (const id of [...this.#pending.keys()]) this.#settle(id, new MountError(message));
    };
    this.#subprocess.once('error', end).once('close', () => end());
    // The end of the process names the reason.
    stdin?.on('error', () => {});
    stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-1000);
    });
    if (stdout) createInterface({ input: stdout }).on('line', (line) => this.#read(line));
    this.#keepAlive(false);
  }

  ask(verb: Verb, args: readonly string[]): Promise<void> {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#settle(id, new MountError(`${verb}: no answer`)), timeoutMs);
      this.#pending.set(id, { resolve, reject, timer });
      this.#keepAlive(true);
      this.#subprocess.stdin?.write(requestLine(id, verb, args));
    });
  }

  #read(line: string): void {
    const [id, errno, message = ''] = line.split(' ');
    const error = errno === '0' ? undefined : new MountError(Buffer.from(message, 'hex').toString(), Number(errno));
    this.#settle(Number(id), error);
  }

  #settle(id: number, error: MountError | undefined): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    this.#pending.delete(id);
    clearTimeout(pending.timer);
    if (this.#pending.size === 0) this.#keepAlive(false);
    if (error === undefined) pending.resolve();
    else pending.reject(error);
  }

  /** Only requests keep this process alive. */
  #keepAlive(yes: boolean): void {
    const { stdin, stdout, stderr } = this.#subprocess;
    for (const one of [this.#subprocess, stdin, stdout, stderr] as { ref(): void; unref(): void }[]) {
      if (yes) one.ref();
      else one.unref();
    }
  }
}
