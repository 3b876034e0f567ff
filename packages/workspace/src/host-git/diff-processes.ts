import { randomBytes } from 'node:crypto';
import { WorkspaceError } from '../errors.ts';
import type { Git } from './git.ts';

/**
 * Processes of `git diff-tree --stdin` that stay for a moment after they were used: somebody who reviews a run asks for one diff after the
 * other, and starting git takes longer than its work (18 ms out of 20 in a process of 400 MB, whose page tables are copied first).
 */
export interface DiffProcesses {
  /**
   * What `git diff-tree args from to` writes.
   * @param request.args from options on, the same for every use of a process
   * @param request.maxBytes more than this is EDIFFTOOLARGE
   */
  diff(request: { args: readonly string[]; from: string; to: string; maxBytes: number }): Promise<Buffer>;
}

const idleMs = 2000;
const mostKept = 8;

export function createDiffProcesses(git: Git): DiffProcesses {
  const kept = new Map<string, Kept>();
  return {
    async diff({ args, ...request }) {
      const key = args.join('\0');
      const used = kept.get(key);
      if (used !== undefined) {
        // It may have been opened on a repository that was made anew since: then a fresh one answers.
        const answer = await used.ask(request).catch(unlessTooLarge);
        if (answer !== undefined) return answer;
      }
      const process: Kept = start(git, args, () => {
        if (kept.get(key) === process) kept.delete(key);
      });
      kept.set(key, process);
      for (const [other, oldest] of kept) {
        if (kept.size <= mostKept) break;
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

interface Kept {
  ask(request: { from: string; to: string; maxBytes: number }): Promise<Buffer>;
  isIdle(): boolean;
  end(): void;
}

/** Answers one question after the other. A line that is no object id comes back as it is: that is how the end of an answer is known. */
function start(git: Git, args: readonly string[], onEnd: () => void): Kept {
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
    // Unguessable, so that no content of a diff can be taken for it.
    const mark = `end ${randomBytes(16).toString('hex')}\n`;
    stdin.write(`${to} ${from}\n${mark}`);
    const read: Buffer[] = [];
    let bytes = 0;
    for (;;) {
      const next = await pieces.next();
      if (next.done === true) {
        await done;
        throw new WorkspaceError('EGITFAILED', 'git diff-tree ended before it had answered.');
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

/** The last bytes of what was read, over as many pieces as it takes. */
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
