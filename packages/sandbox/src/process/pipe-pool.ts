import { execFileSync } from 'node:child_process';
import { chmodSync, closeSync, constants, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';

/** Made at once: starting mkfifo takes about 2 ms, one FIFO more almost nothing. */
const BATCH = 32;
/** As much as a pipe holds. */
const CHUNK_BYTES = 64 * 1024;

/** One pipe: a stream on our side, a descriptor for a program on the other. */
export interface Pipe {
  stream: Socket;
  /** For the program; to be closed here once it has it. */
  descriptor: number;
}

/**
 * The standard streams of programs. What Node itself makes for a child are sockets, and a program that opens /dev/stdout or
 * /dev/stderr fails on a socket (ENXIO). Ours are FIFOs without a name: nobody else can open them, nothing of them stays behind.
 */
export class PipePool implements Disposable {
  readonly #mkfifo: string;
  readonly #directory: string;
  #free: number[] = [];

  /** @param input.directory where their names are for a moment */
  constructor(input: { mkfifo: string; directory: string }) {
    this.#mkfifo = input.mkfifo;
    this.#directory = input.directory;
  }

  /**
   * The program writes, we read. All of its chunks lie in one buffer, so each is only good until its listeners return: with a new one for
   * every chunk, a worker whose command prints 2 GiB grew by 35 to 70 MiB.
   */
  output(): Pipe {
    const ours = this.#take();
    const descriptor = openSync(`/proc/self/fd/${ours}`, constants.O_WRONLY);
    const stream: Socket = new Socket({
      ...{ fd: ours, readable: true, writable: false },
      onread: {
        buffer: Buffer.allocUnsafeSlow(CHUNK_BYTES),
        callback: (bytes, buffer) => {
          stream.emit('data', buffer.subarray(0, bytes));
          return true; // go on, even if nobody listens
        },
      },
    });
    return { stream, descriptor };
  }

  /**
   * bubblewrap reads the data and then the end. No command may have the descriptor, which may lead to a file of ours. Unlike a stream, all
   * of it is there before the program starts, whatever becomes of the worker.
   *
   * @returns a descriptor for the program; to be closed here once it has it
   */
  filled(data: Buffer): number {
    if (data.length > CHUNK_BYTES) return this.#file(data);
    const descriptor = this.#take();
    const ours = openSync(`/proc/self/fd/${descriptor}`, constants.O_WRONLY | constants.O_NONBLOCK);
    writeSync(ours, data);
    closeSync(ours);
    return descriptor;
  }

  [Symbol.dispose](): void {
    for (const descriptor of this.#free.splice(0)) closeSync(descriptor);
  }

  #file(data: Buffer): number {
    return this.#unnamed((directory) => {
      const path = join(directory, 'data');
      writeFileSync(path, data);
      chmodSync(path, 0o444);
      return openSync(path, constants.O_RDONLY);
    });
  }

  #take(): number {
    if (this.#free.length === 0) this.#free = this.#make();
    const descriptor = this.#free.pop();
    if (descriptor === undefined) throw new Error('mkfifo made nothing');
    return descriptor;
  }

  #make(): number[] {
    return this.#unnamed((directory) => {
      const paths = Array.from({ length: BATCH }, (_, index) => join(directory, String(index)));
      // for everybody, because the workspace's owner may open its own /dev/stdout; only we can pass the directory
      execFileSync(this.#mkfifo, ['-m', '666', '--', ...paths], { stdio: ['ignore', 'ignore', 'pipe'] });
      return paths.map((path) => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK));
    });
  }

  /** What is made in the directory has no name when this returns. */
  #unnamed<Made>(make: (directory: string) => Made): Made {
    const directory = mkdtempSync(join(this.#directory, 'stdio-'));
    try {
      return make(directory);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }
}
