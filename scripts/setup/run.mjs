import { spawn } from 'node:child_process';
import { SetupError } from './error.mjs';
import { noteRunning } from './left-running.mjs';

/**
 * Runs a program to its end and shows its output only when it fails.
 *
 * @param {Pick<import('./machine.mjs').Machine, 'root'>} machine
 * @param {string[]} command
 * @param {{cwd: string, env: NodeJS.ProcessEnv, what: string, next: string}} options `what` and `next` form the error
 * @returns {Promise<string>} standard output and error, interleaved
 */
export function run({ root }, [program = '', ...args], { cwd, env, what, next }) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const forget = noteRunning(root, child.pid);
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
 * The cause is in the first lines or in the last.
 *
 * @param {string} text
 */
function shorten(text) {
  const lines = text.trimEnd().split('\n');
  return (lines.length <= 16 ? lines : [...lines.slice(0, 8), '…', ...lines.slice(-8)]).join('\n');
}
