import type { CommandResult } from '@holdpoint/contract';
import type { Command, Sandbox } from '@holdpoint/sandbox';
import type { Conversation, Converse } from '@holdpoint/tools';

/** A longer line ends the command: a program of the run must not fill the worker's memory. */
const maxLineBytes = 8 * 1024 * 1024;
/** Lines that wait together for `receive`, in bytes. */
const maxWaitingBytes = 2 * maxLineBytes;
const maxWaiting = 10_000;
/** Bytes that were sent and that the command has not read. The whole session of an agent is one line. */
const maxUnreadBytes = 128 * 1024 * 1024;
const maxErrorBytes = 4096;
/** Milliseconds for a command to end by itself after the end of its input. */
const endMs = 500;

/** The command without its streams, which the conversation has. */
type SilentCommand = Omit<Command, 'input' | 'output' | 'stdin' | 'stop'> & { stop: AbortSignal };

/**
 * Runs a command until `talk` settles.
 * @throws SandboxError when the command could not be run
 */
export async function runConversation<Said>(
  sandbox: Pick<Sandbox, 'run'>,
  command: SilentCommand,
  talk: (conversation: Conversation & { isAlive(): boolean }) => Promise<Said>,
): Promise<Awaited<ReturnType<Converse>> & { talk: PromiseSettledResult<Said>; result: CommandResult }> {
  const over = new AbortController();
  const lines = new Lines((why) => over.abort(new Error(why)));
  let stderr = Buffer.alloc(0);
  let write: ((line: string) => void) | undefined;
  let endInput = () => {};
  let isAlive = () => true;
  /** The lines before the command has begun. */
  const held: string[] = [];
  let heldBytes = 0;
  const bound = (bytes: number): void => {
    if (bytes > maxUnreadBytes) over.abort(new Error('it did not read its input'));
  };
  const hold = (line: string): void => {
    held.push(line);
    heldBytes += line.length;
    bound(heldBytes);
  };
  const running = sandbox.run({
    ...command,
    stop: AbortSignal.any([command.stop, over.signal]),
    input(stdin, begun) {
      isAlive = () => begun.isAlive();
      stdin.on('error', () => {}); // the command does not read any more
      write = (line) => {
        stdin.write(`${line}\n`);
        bound(stdin.writableLength);
      };
      endInput = () => stdin.end();
      for (const line of held.splice(0)) write(line);
    },
    output: {
      write(stream, chunk) {
        if (stream === 'stdout') lines.push(chunk);
        else stderr = Buffer.from(Buffer.concat([stderr, chunk.subarray(-maxErrorBytes)]).subarray(-maxErrorBytes));
      },
    },
  });
  const ended = running.finally(() => lines.end());
  ended.catch(() => {});
  const conversation = {
    send: (line: string) => (write ?? hold)(line),
    receive: () => lines.next(),
    isAlive: () => isAlive(),
  };
  const [settled] = await Promise.allSettled([talk(conversation)]);
  endInput();
  let isEnded = false;
  const timer = setTimeout(() => {
    isEnded = !over.signal.aborted;
    over.abort(new Error('the conversation was over'));
  }, endMs);
  try {
    const result = await ended;
    return { talk: settled, end: isEnded ? undefined : result.end, stderr: stderr.toString('utf8'), result };
  } finally {
    clearTimeout(timer);
  }
}

/** The lines of a stream, for one reader. */
class Lines {
  readonly #onTooMuch: (why: string) => void;
  readonly #waiting: { line: string; bytes: number }[] = [];
  #bytes = 0;
  #rest: Buffer[] = [];
  #restBytes = 0;
  #isOver = false;
  #wake = () => {};

  /** @param onTooMuch called once for a line that is too long, or for too many lines without a reader. No line follows */
  constructor(onTooMuch: (why: string) => void) {
    this.#onTooMuch = onTooMuch;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1 && !this.#isOver; end = chunk.indexOf(10, from)) {
      this.#keep(chunk.subarray(from, end));
      this.#waiting.push({ line: Buffer.concat(this.#rest).toString('utf8'), bytes: this.#restBytes });
      this.#bytes += this.#restBytes;
      [this.#rest, this.#restBytes] = [[], 0];
      from = end + 1;
    }
    this.#keep(chunk.subarray(from));
    if (this.#bytes > maxWaitingBytes || this.#waiting.length > maxWaiting)
      this.#fail('it wrote more lines than were read');
    this.#wake();
  }

  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  async next(): Promise<string | undefined> {
    while (this.#waiting.length === 0 && !this.#isOver) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const next = this.#waiting.shift();
    if (next !== undefined) this.#bytes -= next.bytes;
    return next?.line;
  }

  /** A chunk is valid only until `push` returns. */
  #keep(part: Buffer): void {
    if (this.#isOver || part.length === 0) return;
    this.#restBytes += part.length;
    if (this.#restBytes > maxLineBytes) this.#fail('it wrote a line of more than 8 MiB');
    else this.#rest.push(Buffer.from(part));
  }

  #fail(why: string): void {
    if (this.#isOver) return;
    this.end();
    this.#rest = [];
    this.#onTooMuch(why);
  }
}
