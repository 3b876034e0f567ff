import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SandboxError } from '../errors.ts';
import { isExecutable } from '../is-executable.ts';

const run = promisify(execFile);
const PATIENCE_MS = 10_000;

/** A container engine's client. */
export interface Engine {
  /** Absolute path. */
  program: string;
  /** Runs one short command; what it printed. Rejects when it fails. */
  call(...args: string[]): Promise<string>;
}

/**
 * The first engine that answers and has the image. Throws `SandboxError` ESANDBOXMISSING.
 *
 * @param input.engine absolute path of one to use; null looks for docker, podman and nerdctl
 * @param input.path where to look
 */
export async function findEngine(input: { engine: string | null; path: string; image: string }): Promise<Engine> {
  const directories = input.path.split(':').filter(Boolean);
  const programs = input.engine
    ? [input.engine]
    : ['docker', 'podman', 'nerdctl'].flatMap((name) => directories.map((directory) => join(directory, name)));
  const complaints: string[] = [];
  for (const program of programs.filter(isExecutable)) {
    const call = async (...args: string[]) =>
      (await run(program, args, { timeout: PATIENCE_MS, env: { PATH: input.path, HOME: '/tmp' } })).stdout;
    try {
      await call('version');
      await call('image', 'inspect', input.image);
      return { program, call };
    } catch (error) {
      const detail = (error as { stderr?: string }).stderr?.trim() || (error instanceof Error ? error.message : '');
      complaints.push(`${program}: ${detail.slice(0, 300)}`);
    }
  }
  const tried =
    complaints.length > 0 ? complaints.join(' ') : `there is none of ${input.engine ?? 'docker, podman and nerdctl'}`;
  throw new SandboxError('ESANDBOXMISSING', `No container engine can be used: ${tried}.`, {
    retryable: false,
    next: `Start an engine that this user may use, and pull ${input.image} with it; or use the driver bubblewrap.`,
  });
}
