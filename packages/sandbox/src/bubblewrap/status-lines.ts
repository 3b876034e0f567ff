import type { Readable } from 'node:stream';

interface StatusEvents {
  /**
   * The first process in the sandbox's pid namespace. bubblewrap reports the pid before waiting for the process, so the pid is not free
   * yet.
   */
  child(pid: number): void;
  /** A word from enter.sh, e.g. `ready`. */
  word(word: string): void;
  /** The command has ended with this code, and all processes of the sandbox have ended as well. */
  exit(code: number): void;
  /** bubblewrap has closed its files, so bubblewrap runs no program any more. */
  closed(): void;
}

/** Reads the status lines of bubblewrap and enter.sh, a JSON object per line. No command has this pipe. */
export function followStatus(stream: Readable, events: StatusEvents): void {
  let rest = '';
  stream.on('data', (chunk: Buffer) => {
    const lines = `${rest}${chunk.toString('latin1')}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const { 'child-pid': pid, 'exit-code': code, word } = parse(line);
      if (typeof pid === 'number') events.child(pid);
      if (typeof word === 'string') events.word(word);
      if (typeof code === 'number') events.exit(code);
    }
  });
  stream.on('error', () => {}); // `close` follows
  stream.once('close', () => events.closed());
}

/** Empty for a line cut off by the end of bubblewrap. */
function parse(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line);
  } catch {
    return {};
  }
}
