import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Unexpected } from './expect.ts';

const execute = promisify(execFile);

/** A user's git configuration (signing, hooks, templates) must not matter. */
const git = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
};

/** @returns standard output. @throws Unexpected when the program fails */
export async function run(
  cwd: string,
  [program, ...args]: readonly [string, ...string[]],
  signal: AbortSignal,
): Promise<string> {
  try {
    const { stdout } = await execute(program, args, { cwd, signal, env: { ...process.env, ...git } });
    return stdout.trim();
  } catch (error) {
    signal.throwIfAborted();
    const output = error instanceof Error && 'stderr' in error ? `${String(error.stderr)}` : '';
    throw new Unexpected(`${program} ${args.join(' ')} failed in ${cwd}: ${output || String(error)}`);
  }
}

/** Whether the program exits 1, as test runners do when a test fails. */
export async function failsTests(
  cwd: string,
  [program, ...args]: readonly [string, ...string[]],
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await execute(program, args, { cwd, signal });
    return false;
  } catch (error) {
    signal.throwIfAborted();
    return error instanceof Error && 'code' in error && error.code === 1;
  }
}
