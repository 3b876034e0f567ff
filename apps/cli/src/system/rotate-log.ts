import * as fs from 'node:fs';

const maxBytes = 16 * 1024 * 1024;
const intervalMs = 2000;

/**
 * Limits a log during its process's writes: copies the content to `<file>.1` and truncates the file. The process appends, so its next line
 * is at the new beginning. Without space for a copy the content is dropped.
 */
export function rotateLog(file: string, largest: number = maxBytes): void {
  if ((fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0) <= largest) return;
  const older = `${file}.1`;
  const log = fs.openSync(file, 'r+');
  try {
    const copied = copyOf(file, older);
    if (copied !== undefined) appendRest(log, { from: copied, to: older });
    fs.ftruncateSync(log, 0);
  } finally {
    fs.closeSync(log);
  }
}

/** @returns the number of copied bytes; undefined without space */
function copyOf(file: string, older: string): number | undefined {
  try {
    fs.copyFileSync(file, older);
    return fs.statSync(older).size;
  } catch {
    fs.rmSync(older, { force: true });
    return undefined;
  }
}

/** Copies the lines written during the copy. Lines in the microseconds before the truncation are lost. */
function appendRest(log: number, { from, to }: { from: number; to: string }): void {
  const length = fs.fstatSync(log).size - from;
  if (length <= 0) return;
  const rest = Buffer.alloc(length);
  const older = fs.openSync(to, 'a');
  try {
    fs.writeSync(older, rest, 0, fs.readSync(log, rest, 0, length, from));
  } catch {
    // No space for the copy.
  } finally {
    fs.closeSync(older);
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
