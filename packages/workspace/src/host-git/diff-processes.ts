import { randomBytes } from 'node:crypto';
import { WorkspaceError } from '../errors.ts';
import type { Git } from './git.ts';

/**
 * Processes of `git diff-tree --stdin`, kept open for two seconds after use: a reviewing user requests one diff after another, and starting
 * git takes longer than its work (18 ms of 20 in a process of 400 MB, because the kernel copies the page tables first).
 */
export interface DiffProcesses {
  /**
   * The output of `git diff-tree args from to`. Throws EDIFFTOOLARGE for more than `maxBytes`.
   * @param request.args the same arguments use the same process
   */
  diff(request: { args: readonly string[]; from: string; to: string; maxBytes: number }): Promise<Buffer>;
}

const idleMs = 2000;
const maxProcesses = 8;

export function createDiffProcesses(git: Git): DiffProcesses {
  const open = new Map<string, DiffProcess>();
  return {
    async diff({ args, ...request }) {
      const key = args.join('\0');
      const used = open.get(key);
      if (used !== undefined) {
        // The repository may have been created again since the process started: then a new process answers.
        const answer = await used.ask(request).catch(unlessTooLarge);
        if (answer !== undefined) return answer;
      }
      const process: DiffProcess = start(git, args, () => {
        if (open.get(key) === process) open.delete(key);
      });
      open.set(key, process);
      for (const [other, oldest] of open) {
        if (open.size <= maxProcesses) break;
        if (other !== key && oldest.isIdle()) oldest.end();
      }
      return process.ask(request);
    },
  };
}

function unlessTooLarge(error: unknown): undefined {
  if (error instanceof WorkspaceError && error.code === 'EDIFFTOOLARGE') throw error;
  return undefined;
}

interface DiffProcess {
  ask(request: { from: string; to: string; maxBytes: number }): Promise<Buffer>;
  isIdle(): boolean;
  end(): void;
}

/** Answers requests in sequence. git echoes a line without an object id: the echo marks the end of an answer. */
function start(git: Git, args: readonly string[], onEnd: () => void): DiffProcess {
  const { stdin, stdout, done, kill } = git.stream(args);
  let queue: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  let idle: NodeJS.Timeout | undefined;
  const end = () => {
    clearTimeout(idle);
    onEnd();
    kill();
  };
  stdin.on('error', () => {});
  const pieces = stdout[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;

  const answer = async ({ from, to, maxBytes }: { from: string; to: string; maxBytes: number }): Promise<Buffer> => {
    // Random: no content of a diff can equal the mark.
    const mark = `end ${randomBytes(16).toString('hex')}\n`;
    stdin.write(`${to} ${from}\n${mark}`);
    const read: Buffer[] = [];
    let bytes = 0;
    for (;;) {
      const next = await pieces.next();
      if (next.done === true) {
        await done;
        throw new WorkspaceError('EGITFAILED', 'git diff-tree exited before it answered.');
      }
      const piece = Buffer.from(next.value);
      read.push(piece);
      bytes += piece.length;
      if (bytes > maxBytes + mark.length)
        throw new WorkspaceError('EDIFFTOOLARGE', 'git diff-tree wrote more than the limit.');
      const tail = tailOf(read, mark.length);
      if (tail.toString('latin1') === mark) return Buffer.concat(read, bytes).subarray(0, bytes - mark.length);
    }
  };
  return {
    isIdle: () => waiting === 0,
    end,
    ask(request) {
      clearTimeout(idle);
      waiting += 1;
      const asked = queue.then(() => answer(request));
      queue = asked.catch(end).finally(() => {
        waiting -= 1;
        if (waiting === 0) idle = setTimeout(end, idleMs);
      });
      return asked;
    },
  };
}

/** The last read bytes, across pieces. */
function tailOf(read: readonly Buffer[], length: number): Buffer {
  const last: Buffer[] = [];
  let bytes = 0;
  for (let index = read.length - 1; index >= 0 && bytes < length; index--) {
    const piece = read[index] ?? Buffer.alloc(0);
    last.unshift(piece);
    bytes += piece.length;
  }
  return Buffer.concat(last).subarray(-length);
}
