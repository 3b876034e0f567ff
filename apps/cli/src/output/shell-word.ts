import { nameText } from './name-text.ts';

/** A name as one word of a command line to copy, quoted when a shell would interpret it. */
export function shellWord(name: string): string {
  if (/^[\w@%+=:,./][\w@%+=:,./-]*$/.test(name)) return name;
  // Unseen and imitating letters are escaped: the copied command then fails instead of doing something else.
  return `'${nameText(name).replaceAll("'", "'\\''")}'`;
}
