import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectDir } from '../harness/index.ts';

/** The program installed by `node scripts/setup.mjs --prometheus`, or the system's. */
export function programOf(name: 'prometheus' | 'promtool'): string {
  const unpacked = join(projectDir, '.cache/prometheus/bin', name);
  return existsSync(unpacked) ? unpacked : name;
}

/** @returns the output of promtool, even after a failure */
export async function promtool(...args: string[]): Promise<{ ok: boolean; output: string }> {
  try {
    const { stdout, stderr } = await promisify(execFile)(programOf('promtool'), args, { timeout: 60_000 });
    return { ok: true, output: stdout + stderr };
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string };
    return { ok: false, output: `${stdout}${stderr}` || message };
  }
}
