import { spawn } from 'node:child_process';
import { SetupError } from './error.mjs';
import { noteRunning } from './left-running.mjs';

/**
 * Runs a program to its end and shows its output only after a failure.
 *
 * @param {Pick<import('./machine.mjs').Machine, 'root'> & Partial<Pick<import('./machine.mjs').Machine, 'progress'>>} machine
 * @param {string[]} command
 * @param {{cwd: string, env: NodeJS.ProcessEnv, doing?: string, what: string, next: string, everyMs?: number}} options
 *   `what` and `next` form the error; `doing` is said every few seconds
 * @returns {Promise<string>} standard output and error, interleaved
 */
export function run({ root, progress }, [program = '', ...args], { cwd, env, doing, what, next, everyMs = 4000 }) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const forgetChild = noteRunning(root, child.pid);
    const begun = Date.now();
    const timer = setInterval(() => {
      if (doing !== undefined) progress?.(`${doing}: ${Math.round((Date.now() - begun) / 1000)} s so far`);
    }, everyMs);
    const forget = () => {
      clearInterval(timer);
      forgetChild();
    };
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output = (output + text).slice(-64 * 1024);
      });
    }
    child.on('error', (error) => {
      forget();
      reject(new SetupError(`${what}: ${error.message}`, next));
    });
    child.on('close', (code, signal) => {
      forget();
      if (code === 0) resolve(output);
      else reject(new SetupError(`${what} (${signal ?? `exit ${code}`})\n${shorten(output)}`, next));
    });
  });
}

/**
 * The cause is in the first lines or in the last, and never in the stack of the program.
 *
 * @param {string} text
 */
function shorten(text) {
  const lines = text
    .trimEnd()
    .split('\n')
    .filter((line) => !/^(npm error)?\s+at .*:\d+:\d+\)?$/.test(line));
  return (lines.length <= 16 ? lines : [...lines.slice(0, 8), '…', ...lines.slice(-8)]).join('\n');
}
