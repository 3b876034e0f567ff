import { spawn } from 'node:child_process';
import { SetupError } from './error.mjs';

/**
 * Runs a program to its end. Its output is kept back and shown only when it fails.
 *
 * @param {string[]} command
 * @param {{cwd: string, env: NodeJS.ProcessEnv, what: string, next: string}} options `what` and `next` make up the error
 * @returns {Promise<string>} standard output and error, as they came
 */
export function run([program = '', ...args], { cwd, env, what, next }) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output = (output + text).slice(-64 * 1024);
      });
    }
    child.on('error', (error) => reject(new SetupError(`${what}: ${error.message}`, next)));
    child.on('close', (code, signal) => {
      if (code === 0) resolve(output);
      else reject(new SetupError(`${what} (${signal ?? `exit ${code}`})\n${lastLines(output, 15)}`, next));
    });
  });
}

/**
 * @param {string} text
 * @param {number} count
 */
function lastLines(text, count) {
  return text.trimEnd().split('\n').slice(-count).join('\n');
}
