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

const maxBytes = 16 * 1024 * 1024;
const intervalMs = 2000;

/**
 * Limits a log during its process's writes: copies the content to `<file>.1` and truncates the file. The process appends, so its next line
 * is at the new beginning. Without space for a copy the content is dropped.
 */
export function rotateLog(file: string, largest: number = maxBytes): void {
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

/** @returns the number of copied bytes; undefined without space */
function copyOf(file: string, older: string): number | undefined {
  try {
    copyFileSync(file, older);
    return statSync(older).size;
  } catch {
    rmSync(older, { force: true });
    return undefined;
  }
}

/** Copies the lines written during the copy. Lines in the microseconds before the truncation are lost. */
function appendRest(log: number, { from, to }: { from: number; to: string }): void {
  const length = fstatSync(log).size - from;
  if (length <= 0) return;
  const rest = Buffer.alloc(length);
  const older = openSync(to, 'a');
  try {
    writeSync(older, rest, 0, readSync(log, rest, 0, length, from));
  } catch {
    // No space for the copy.
  } finally {
    closeSync(older);
  }
}

/** @returns a function to stop the rotation */
export function rotateLogs(files: readonly string[]): () => void {
  const timer = setInterval(() => {
    for (const file of files) {
      try {
        rotateLog(file);
      } catch {
        // Tried again at the next interval.
      }
    }
  }, intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}
