import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { projectDir } from './users.ts';

/** Files of this host, compared by content: files visible to sandboxes, and files hidden from them. */
const precious = [
  ...['/etc/passwd', '/etc/group', '/etc/shadow', '/etc/hosts', '/usr/bin/env', '/usr/bin/bash'],
  ...['passwd', 'group', 'hosts'].map((name) => join(projectDir, 'packages/sandbox/src/inside/etc', name)),
  ...['enter.sh', 'tool-host/main.ts'].map((name) => join(projectDir, 'packages/sandbox/src/inside', name)),
];
const directories = ['/', '/etc', '/usr', '/usr/bin', '/usr/lib', '/var', '/home', '/root', '/opt', '/boot', '/dev'];
/** Directories where a command might have left a file. */
const writable = [...directories, '/tmp', '/var/tmp', '/dev/shm', '/run', '/mnt'];

/** Everything in a directory: mode, owner, size, times, inode and content of each entry. */
export function picture(root: string): Record<string, string> {
  const entries: Record<string, string> = {};
  const visit = (path: string, name: string) => {
    const entry = lstatSync(path, { bigint: true });
    const { mode, uid, gid, size, mtimeNs, ctimeNs, ino, nlink } = entry;
    const content = entry.isFile() ? digest(path) : entry.isSymbolicLink() ? readlinkSync(path) : '';
    entries[name] = [mode.toString(8), uid, gid, nlink, size, mtimeNs, ctimeNs, ino, content].join(' ');
    if (entry.isDirectory()) for (const child of readdirSync(path)) visit(join(path, child), join(name, child));
  };
  visit(root, '.');
  return entries;
}

/** The parts of the system in danger from a command without the sandbox. */
export function systemPicture(): Record<string, string> {
  const files = precious.map((path) => [path, readable(() => digest(path))]);
  const modes = directories.map((path) => [
    path,
    readable(() => {
      const { mode, uid, gid } = lstatSync(path);
      return [mode.toString(8), uid, gid].join(' ');
    }),
  ]);
  const kernel = ['hostname', 'core_pattern', 'random/boot_id'].map((name) => [
    name,
    readable(() => readFileSync(`/proc/sys/kernel/${name}`, 'utf8')),
  ]);
  return Object.fromEntries([...files, ...modes, ...kernel]);
}

/** Files of this host with the word in their name, in the directories writable for a command. */
export const namesWith = (word: string): string[] =>
  writable.flatMap((directory) => {
    const names = readable(() => readdirSync(directory).join('\0')).split('\0');
    return names.filter((name) => name.includes(word)).map((name) => join(directory, name));
  });

const digest = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');

function readable(read: () => string): string {
  try {
    return read();
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unreadable';
  }
}
