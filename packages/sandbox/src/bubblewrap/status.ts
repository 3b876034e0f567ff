import type { Readable } from 'node:stream';
import { z } from 'zod';

const lineSchema = z.looseObject({
  /** Host pid of the first process in the sandbox's pid namespace. */
  'child-pid': z.int().positive().optional(),
  /** bubblewrap writes it only when the command started. */
  'exit-code': z.int().optional(),
});

export interface Status {
  exitCode: number | null;
}

/** Reads bubblewrap's `--json-status-fd` to its end: one JSON object per line. The command cannot write to it. */
export function readStatus(stream: Readable, onChild: (pid: number) => void): Promise<Status> {
  const status: Status = { exitCode: null };
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const parsed = lineSchema.safeParse(parse(line));
      if (!parsed.success) continue;
      if (parsed.data['child-pid'] !== undefined) onChild(parsed.data['child-pid']);
      if (parsed.data['exit-code'] !== undefined) status.exitCode = parsed.data['exit-code'];
    }
  });
  return new Promise((resolve) => {
    stream.once('close', () => resolve(status));
    stream.once('error', () => resolve(status));
  });
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
