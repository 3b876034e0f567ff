import { Redis } from 'ioredis';

/**
 * Sends all commands of an iteration of the event loop in one write. The server reads them at once, so with `appendfsync always` a
 * single fsync covers them all. ioredis alone makes one system call per command; its auto-pipelining has the same effect for 1.7 times the
 * CPU per job.
 */
export class OneWriteRedis extends Redis {
  #isHolding = false;

  override sendCommand(...args: Parameters<Redis['sendCommand']>): unknown {
    if (!this.#isHolding && this.status === 'ready') this.#hold();
    return super.sendCommand(...args);
  }

  #hold(): void {
    const { stream } = this;
    this.#isHolding = true;
    stream.cork();
    setImmediate(() => {
      this.#isHolding = false;
      stream.uncork();
    });
  }
}
