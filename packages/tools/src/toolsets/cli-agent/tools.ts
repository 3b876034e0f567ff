import { createDirectory } from './create-directory.ts';
import { createFile } from './create-file.ts';
import { fetchWebpage } from './fetch-webpage.ts';
import { fileSearch } from './file-search.ts';
import { grepSearch } from './grep-search.ts';
import { listDir } from './list-dir.ts';
import { readFile } from './read-file.ts';
import { replaceStringInFile } from './replace-string-in-file.ts';
import { runInTerminal } from './run-in-terminal.ts';
import { terminalLastCommand } from './terminal-last-command.ts';

/** In the order of the contract. */
export const cliAgentTools = [
  ...[createFile, readFile, replaceStringInFile, listDir, fileSearch, grepSearch],
  ...[runInTerminal, terminalLastCommand, createDirectory, fetchWebpage],
];
