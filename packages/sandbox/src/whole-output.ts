import { Capture } from './capture.ts';

/** Bytes kept of each stream: the first and the last half. Memory grows with what is printed. */
const keptBytes = 4 * 1024 * 1024;

/** The output of the commands of a call, in bounded memory. */
export class WholeOutput {
  readonly #streams = { stdout: new Capture(keptBytes), stderr: new Capture(keptBytes) };

  write(stream: 'stdout' | 'stderr', chunk: Buffer): void {
    this.#streams[stream].push(chunk);
  }

  get isEmpty(): boolean {
    const { stdout, stderr } = this.#streams;
    return stdout.bytes + stderr.bytes === 0;
  }

  /** `dropped`: bytes in the middle of a stream that were not kept. */
  read(): { stdout: string; stderr: string; dropped: number } {
    const [stdout, stderr] = [this.#streams.stdout.end(), this.#streams.stderr.end()];
    const kept = this.#streams.stdout.kept + this.#streams.stderr.kept;
    return { stdout: stdout.text, stderr: stderr.text, dropped: stdout.bytes + stderr.bytes - kept };
  }
}
