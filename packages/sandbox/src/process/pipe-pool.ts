import { execFileSync } from 'node:child_process';
import { chmodSync, closeSync, constants, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';

/** FIFOs per call of mkfifo: the start takes about 2 ms, one more FIFO almost nothing. */
const batchSize = 32;
/** Capacity of a pipe. */
const chunkBytes = 64 * 1024;

/** One pipe: a stream for the worker, a file descriptor for a program. */
export interface Pipe {
  stream: Socket;
  /** For the program. The caller closes it once the program has it. */
  descriptor: number;
}

/**
 * The standard streams of programs. Node itself gives a child sockets, and a program that opens /dev/stdout or /dev/stderr fails on a
 * socket (ENXIO). These are FIFOs without a name: no other program can open them, and no file stays behind.
 */
export class PipePool implements Disposable {
  readonly #mkfifo: string;
  readonly #directory: string;
  #free: number[] = [];

  /** @param input.directory where the FIFOs have a name for a moment */
  constructor(input: { mkfifo: string; directory: string }) {
    this.#mkfifo = input.mkfifo;
    this.#directory = input.directory;
  }

  /**
   * The program writes, the worker reads. All chunks share one buffer, so a chunk is valid only until its listeners return. With a new
   * buffer for every chunk, a worker whose command prints 2 GiB grew by 35 to 70 MiB.
   */
  output(): Pipe {
    const ours = this.#take();
    const descriptor = openSync(`/proc/self/fd/${ours}`, constants.O_WRONLY);
    const stream: Socket = new Socket({
      ...{ fd: ours, readable: true, writable: false },
      onread: {
        buffer: Buffer.allocUnsafeSlow(chunkBytes),
        callback: (bytes, buffer) => {
          stream.emit('data', buffer.subarray(0, bytes));
          return true; // continue, even without listeners
        },
      },
    });
    return { stream, descriptor };
  }

  /**
   * bubblewrap reads the data and then the end. No command may get this descriptor, because it may lead to a file of the worker. All data
   * is there before the program starts, even when the worker dies then.
   *
   * @returns a descriptor for the program. The caller closes it once the program has it
   */
  filled(data: Buffer): number {
    if (data.length > chunkBytes) return this.#file(data);
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
    if (descriptor === undefined) throw new Error('mkfifo created no FIFO');
    return descriptor;
  }

  #make(): number[] {
    return this.#unnamed((directory) => {
      const paths = Array.from({ length: batchSize }, (_, index) => join(directory, String(index)));
      // Writable for all, because the workspace's owner may open its own /dev/stdout. Only the worker's user can pass the directory.
      execFileSync(this.#mkfifo, ['-m', '666', '--', ...paths], { stdio: ['ignore', 'ignore', 'pipe'] });
      return paths.map((path) => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK));
    });
  }

  /** The files in the directory have no name any more when this returns. */
  #unnamed<Made>(make: (directory: string) => Made): Made {
    const directory = mkdtempSync(join(this.#directory, 'stdio-'));
    try {
      return make(directory);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }
}
