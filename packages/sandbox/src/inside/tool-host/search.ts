import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { argumentsBelow, below, type Outputs } from './outputs.ts';
import { type Operations, type OutputStream, Refusal, type SearchInput } from './protocol.ts';
import { resolve } from './resolve.ts';

/** The tool host's memory suffices for two searches at once. */
const mostAtOnce = 2;

type Output = Operations['search']['output'];
/** @returns false when the search must pause until stdout has drained */
type OnPart = (part: OutputStream, data: Buffer) => boolean;

interface Searches {
  run(input: SearchInput, onPart: OnPart): Promise<Output>;
  cancel(input: { key: number }): Record<string, never>;
}

const canceled: Output = { exit_code: null, signal: 'SIGKILL', nuls: 0 };

/**
 * Runs ripgrep as a child. A shell sets ripgrep's limits and then executes ripgrep. The next shell starts when a search ends, and waits for
 * its script, so the next search begins without a fork of this process.
 */
export function openSearches({
  root,
  outputs,
  ripgrep,
}: {
  root: string;
  outputs: Outputs;
  ripgrep: string;
}): Searches {
  const running = new Map<number, ChildProcess>();
  /** In the order of the requests. */
  const waiting = new Map<number, (isCanceled: boolean) => void>();
  let spare: ChildProcessWithoutNullStreams | undefined;

  const takeShell = (): ChildProcessWithoutNullStreams => {
    const taken =
      spare !== undefined && spare.exitCode === null && spare.signalCode === null ? spare : startShell(root);
    spare = undefined;
    return taken;
  };
  const next = (): void => {
    if (running.size >= mostAtOnce) return;
    const [first] = waiting;
    if (first === undefined) {
      spare ??= startShell(root);
      return;
    }
    waiting.delete(first[0]);
    first[1](false);
  };

  return {
    async run(input, onPart) {
      const [at, { path }] = below({ root, outputs }, input);
      const { stats } = resolve(at, path);
      if (!stats) throw new Refusal('ENOENT', 'no such file or directory');
      const script = scriptOf({ ...input, args: argumentsBelow(outputs, input.args), ripgrep });
      const isFull = running.size >= mostAtOnce;
      if (isFull && (await new Promise<boolean>((begin) => waiting.set(input.key, begin)))) return canceled;
      const shell = takeShell();
      running.set(input.key, shell);
      try {
        return await search(shell, { script, keeps: input.keeps, onPart });
      } finally {
        running.delete(input.key);
        setImmediate(next); // after the reply
      }
    },
    cancel({ key }) {
      running.get(key)?.kill('SIGKILL');
      waiting.get(key)?.(true);
      waiting.delete(key);
      return {};
    },
  };
}

/** No home directory, so ripgrep reads no configuration outside the workspace. */
const environment = { PATH: '/usr/bin:/bin', HOME: '/nonexistent', LANG: 'C.UTF-8' };

function startShell(cwd: string): ChildProcessWithoutNullStreams {
  const shell = spawn('/bin/sh', ['-s'], { cwd, env: environment, stdio: 'pipe' });
  shell.on('error', () => {}); // `search` sees the missing pid
  shell.stdin.on('error', () => {}); // the shell was killed
  return shell;
}

function search(
  shell: ChildProcessWithoutNullStreams,
  { script, keeps, onPart }: Pick<SearchInput, 'keeps'> & { script: string; onPart: OnPart },
): Promise<Output> {
  if (shell.pid === undefined) throw new Error('no process can be started');
  let nuls = 0;
  const passOn = (part: OutputStream) => (data: Buffer) => {
    if (part === 'stdout' && keeps === 'nuls') nuls += countNuls(data);
    else if (!onPart(part, data)) awaitDrain(shell);
  };
  shell.stdout.on('data', passOn('stdout'));
  shell.stderr.on('data', passOn('stderr'));
  shell.stdin.end(script);
  return new Promise((done) => shell.once('close', (exit_code, signal) => done({ exit_code, signal, nuls })));
}

/** ripgrep blocks on its full pipe until the worker has read. */
function awaitDrain({ stdout, stderr }: ChildProcessWithoutNullStreams): void {
  if (stdout.isPaused()) return;
  stdout.pause();
  stderr.pause();
  process.stdout.once('drain', () => {
    stdout.resume();
    stderr.resume();
  });
}

function countNuls(data: Buffer): number {
  let count = 0;
  for (let at = data.indexOf(0); at !== -1; at = data.indexOf(0, at + 1)) count++;
  return count;
}

/** The limits let a search over its memory limit abort by itself, before the kernel kills some process. */
function scriptOf({ ripgrep, args, cpu_seconds, memory_bytes }: SearchInput & { ripgrep: string }): string {
  const limits = [
    'ulimit -c 0',
    `ulimit -d ${Math.ceil(memory_bytes / 1024)}`,
    `ulimit -St ${cpu_seconds}`,
    `ulimit -Ht ${cpu_seconds + 1}`,
  ];
  const lines = limits.map((limit) => `${limit} 2>/dev/null\n`);
  return `${lines.join('')}exec ${[ripgrep, ...args].map(quote).join(' ')} </dev/null\n`;
}

/** Between single quotes only the quote has a meaning. */
function quote(word: string): string {
  if (word.includes('\0')) throw new Refusal('EINVAL', 'an argument contains a NUL byte');
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
