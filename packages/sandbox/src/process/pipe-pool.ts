import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { PassedFile } from '../starter/protocol.ts';
import { passed, type Starter } from '../starter/starter.ts';
import { makeStdioDirectory, sweepStdioDirectories } from './stdio-directory.ts';

/** FIFOs per call of mkfifo. Starting mkfifo takes about 2 ms, another FIFO almost no time. */
const batchSize = 24;
/** With fewer free FIFOs the pool makes the next batch. These few suffice for sandboxes beginning before the next batch is ready. */
const fewFree = 8;
/** Capacity of a pipe. */
const chunkBytes = 64 * 1024;
const tmpfsMagic = 0x01021994;

/** A pipe: a stream for the worker, and a file for a program. The caller closes the file once the program has inherited the file. */
export interface Pipe {
  stream: Socket;
  file: PassedFile;
}

/**
 * The standard streams of programs. By default Node gives a child sockets, and opening /dev/stdout or /dev/stderr fails on a socket
 * (ENXIO). The pool gives FIFOs without a name: no other program can open them, and no file stays behind.
 */
export class PipePool {
  readonly #mkfifo: string;
  readonly #directory: string;
  /** Directory of the FIFOs while they have a name, for a moment. */
  readonly #fifoDirectory: string;
  readonly #starter: Starter;
  #free: number[] = [];
  readonly #lasting: number[] = [];
  /**
   * Buffer for all streams of `sharedOutput`. Node reads a chunk and calls the listeners without a pause, so Node reads no other stream in
   * between.
   */
  readonly #chunk = Buffer.allocUnsafeSlow(chunkBytes);
  #refilling: Promise<void> | null = null;
  #isClosed = false;

  /** @param input.directory directory of files while they have a name, for a moment. Created when missing */
  constructor(input: { mkfifo: string; directory: string; starter: Starter }) {
    this.#mkfifo = input.mkfifo;
    this.#directory = input.directory;
    this.#fifoDirectory = memoryDirectory() ?? input.directory;
    this.#starter = input.starter;
    for (const parent of [this.#directory, this.#fifoDirectory]) sweepStdioDirectories(parent);
  }

  /** The program writes, the worker reads. */
  output(): Pipe {
    const { ours, file } = this.#opened();
    return { stream: new Socket({ fd: ours, readable: true, writable: false }), file };
  }

  /**
   * As `output`, but the chunks of all shared streams use the same buffer, so a chunk is valid only until its listeners return. With a new
   * buffer for every chunk, a worker grew by 35 to 70 MiB while its command printed 2 GiB. With a buffer per stream, the garbage collector
   * marked the whole heap every 12 commands.
   */
  sharedOutput(): Pipe {
    const { ours, file } = this.#opened();
    const stream: Socket = new Socket({
      ...{ fd: ours, readable: true, writable: false },
      onread: {
        buffer: this.#chunk,
        callback: (bytes, buffer) => {
          stream.emit('data', buffer.subarray(0, bytes));
          return true; // continue, even without listeners
        },
      },
    });
    return { stream, file };
  }

  /** The worker writes, the program reads. */
  input(): Pipe {
    const file = passed(this.#take(), 'read');
    const ours = fs.openSync(`/proc/self/fd/${file.fd}`, fs.constants.O_WRONLY | fs.constants.O_NONBLOCK);
    return { stream: new Socket({ fd: ours, readable: false, writable: true }), file };
  }

  /**
   * A file for bubblewrap to read the data up to the end. No command may get this file, because the file may lead to another file of the
   * worker. All data is in the file before the program starts, even when the worker dies then. The caller closes the file once the program
   * has inherited the file.
   */
  filled(data: Buffer): PassedFile {
    if (data.length > chunkBytes) return this.#file(data);
    const file = passed(this.#take(), 'read');
    const ours = fs.openSync(`/proc/self/fd/${file.fd}`, fs.constants.O_WRONLY | fs.constants.O_NONBLOCK);
    fs.writeSync(ours, data);
    fs.closeSync(ours);
    return file;
  }

  /** As `filled`, for any number of programs: the pool closes the file. */
  lasting(data: Buffer): PassedFile {
    const file = this.#file(data);
    this.#lasting.push(file.fd);
    return file;
  }

  #file(data: Buffer): PassedFile {
    const directory = makeStdioDirectory(this.#directory);
    try {
      const path = join(directory, 'data');
      fs.writeFileSync(path, data);
      fs.chmodSync(path, 0o444);
      return passed(fs.openSync(path, fs.constants.O_RDONLY), 'read');
    } finally {
      remove(directory);
    }
  }

  /** Resolves when no file of the pool has a name. */
  async settled(): Promise<void> {
    await this.#refilling;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const fd of [...this.#free.splice(0), ...this.#lasting.splice(0)]) fs.closeSync(fd);
    await this.settled();
  }

  #opened(): { ours: number; file: PassedFile } {
    const ours = this.#take();
    // Open on both sides from the beginning: a stream without a writer could end before the program starts.
    return { ours, file: passed(fs.openSync(`/proc/self/fd/${ours}`, fs.constants.O_WRONLY), 'write') };
  }

  #take(): number {
    if (this.#free.length === 0) this.#fill();
    const fd = this.#free.pop();
    if (fd === undefined) throw new Error('mkfifo created no FIFO');
    if (this.#free.length < fewFree) {
      this.#refilling ??= this.#refill().finally(() => {
        this.#refilling = null;
      });
    }
    return fd;
  }

  /** Makes FIFOs before the first use, and when the starter was too slow. */
  #fill(): void {
    const directory = makeStdioDirectory(this.#fifoDirectory);
    try {
      const paths = batchIn(directory);
      // Writable for all, because the workspace's owner may open its own /dev/stdout. Only the worker's user can pass the directory.
      execFileSync(this.#mkfifo, ['-m', '666', '--', ...paths], { stdio: ['ignore', 'ignore', 'pipe'] });
      this.#open(paths);
    } finally {
      remove(directory);
    }
  }

  /** The starter makes the FIFOs, because a fork of the worker would stop its event loop for 10 ms. */
  async #refill(): Promise<void> {
    let directory: string | undefined;
    try {
      directory = makeStdioDirectory(this.#fifoDirectory);
      const paths = batchIn(directory);
      await this.#starter.makeFifos(this.#mkfifo, paths);
      if (!this.#isClosed) this.#open(paths);
    } catch {
      // `#fill` fails for the same reason, and reports the error.
    } finally {
      if (directory !== undefined) remove(directory);
    }
  }

  #open(paths: readonly string[]): void {
    for (const path of paths) this.#free.push(fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK));
  }
}

/** Making and removing a FIFO takes 0.4 ms of the processor on a disk, and 0.01 ms in memory. */
function memoryDirectory(): string | null {
  const path = '/dev/shm';
  try {
    fs.accessSync(path, fs.constants.W_OK | fs.constants.X_OK);
    return fs.statfsSync(path).type === tmpfsMagic ? path : null;
  } catch {
    return null;
  }
}

const batchIn = (directory: string) => Array.from({ length: batchSize }, (_, index) => join(directory, String(index)));

const remove = (directory: string) => fs.rmSync(directory, { recursive: true, force: true });
