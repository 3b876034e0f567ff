import { createHash } from 'node:crypto';
import { plain } from '@holdpoint/readable';

/** The name of the fence depends on the text, so no text can close its own fence. */
export function fenced(path: string, text: string, { bytes, cut }: { bytes: number; cut: number }): string {
  const mark = createHash('sha256').update(text).digest('hex').slice(0, 12);
  const note = cut === 0 ? '' : `\n[${cut} of ${bytes} bytes are left out: read the file before you work there]`;
  return `<repository-file path=${JSON.stringify(plain(path))} id="${mark}">\n${text}${note}\n</repository-file ${mark}>`;
}

/** Lists of names from a repository. */
export function fencedList(what: string, text: string): string {
  const mark = createHash('sha256').update(text).digest('hex').slice(0, 12);
  return `<repository-${what} id="${mark}">\n${text}\n</repository-${what} ${mark}>`;
}

/**
 * The beginning of a text in so many bytes, without characters that a reader does not see.
 * @param content undefined: the file is too large to be read
 */
export function readable(content: Buffer | undefined, bytes: number, room: number): { text: string; cut: number } {
  if (content === undefined || content.includes(0)) return { text: '', cut: Math.max(1, bytes) };
  const text = plain(
    content
      .toString()
      .replace(/^\ufeff/, '')
      .replaceAll('\r\n', '\n'),
  );
  const whole = Buffer.from(text);
  if (whole.byteLength <= room) return { text, cut: 0 };
  // Half a character at the end is dropped.
  const head = new TextDecoder().decode(whole.subarray(0, Math.max(0, room)), { stream: true });
  return { text: head, cut: whole.byteLength - Buffer.byteLength(head) };
}
