import { rename, rm, stat, writeFile } from 'node:fs/promises';

/** Readers see the old or the new content, even after a power cut. The mode stays. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const mode = await stat(path).then(
    (found) => found.mode & 0o777,
    () => 0o644,
  );
  const next = `${path}.${process.pid}.tmp`;
  try {
    await writeFile(next, text, { mode, flag: 'wx', flush: true });
    await rename(next, path);
  } catch (error) {
    await rm(next, { force: true });
    throw error;
  }
}
