/** How a person calls this command from the project's directory: `-s` keeps npm's own lines out of the output. */
const commandName = 'npm run -s holdpoint --';

/** A command line to try next. */
export const commandLine = (...words: string[]): string => [commandName, ...words].join(' ');
