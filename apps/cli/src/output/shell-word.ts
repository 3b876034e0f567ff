import { nameText } from './name-text.ts';

/** A name as one word of a command line that a person may copy: quoted where a shell would read more in it. */
export function shellWord(name: string): string {
  if (/^[\w@%+=:,./][\w@%+=:,./-]*$/.test(name)) return name;
  // What cannot be seen, or imitates another letter, is written as an escape: the command then fails instead of doing something else.
  return `'${nameText(name).replaceAll("'", "'\\''")}'`;
}
