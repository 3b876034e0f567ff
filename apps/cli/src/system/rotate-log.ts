import {
  closeSync,
  copyFileSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';

const largestLog = 16 * 1024 * 1024;
const everyMs = 2000;

/**
 * Keeps a log small while its process writes to it: the content moves to `<file>.1`, and the file begins again. The process has it open
 * for appending, so its next line is at the new beginning. Where there is no space for a copy, the content is dropped.
 */
export function rotateLog(file: string, largest: number = largestLog): void {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) <= largest) return;
  const older = `${file}.1`;
  const log = openSync(file, 'r+');
  try {
    const copied = copyOf(file, older);
    if (copied !== undefined) appendRest(log, { from: copied, to: older });
    ftruncateSync(log, 0);
  } finally {
    closeSync(log);
  }
}

/** @returns the bytes that were copied; undefined when there was no space */
function copyOf(file: string, older: string): number | undefined {
  try {
    copyFileSync(file, older);
    return statSync(older).size;
  } catch {
    rmSync(older, { force: true });
    return undefined;
  }
}

/** What was written while the copy was made. Between this and the cut there are microseconds. */
function appendRest(log: number, { from, to }: { from: number; to: string }): void {
  const length = fstatSync(log).size - from;
  if (length <= 0) return;
  const rest = Buffer.alloc(length);
  const older = openSync(to, 'a');
  try {
    writeSync(older, rest, 0, readSync(log, rest, 0, length, from));
  } catch {
    // There is no space for it.
  } finally {
    closeSync(older);
  }
}

/** @returns ends it */
export function rotateLogs(files: readonly string[]): () => void {
  const timer = setInterval(() => {
    for (const file of files) {
      try {
        rotateLog(file);
      } catch {
        // The next look is soon.
      }
    }
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
