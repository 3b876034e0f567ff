import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

/**
 * The caller's way to this command: its name when on the PATH, else through npx from the checkout. npm puts its own directories on PATH, so
 * the PATH of a call from npm says nothing.
 */
export function commandNameFor({ npm_command, PATH = '' }: NodeJS.ProcessEnv): string {
  const isOnPath =
    npm_command === undefined && PATH.split(':').some((directory) => isCommand(join(directory, 'holdpoint')));
  return isOnPath ? 'holdpoint' : 'npx holdpoint';
}

function isCommand(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export const commandName = commandNameFor(process.env);

/** A command line to try next. */
export const commandLine = (...words: string[]): string => [commandName, ...words].join(' ');
