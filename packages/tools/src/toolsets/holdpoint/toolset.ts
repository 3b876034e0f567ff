import { defineToolset } from '../../toolset.ts';
import { askUser } from './ask-user.ts';
import { bash } from './bash.ts';
import { edit } from './edit.ts';
import { glob } from './glob.ts';
import { grep } from './grep.ts';
import { listDirectory } from './list-directory.ts';
import { readFile } from './read-file.ts';
import { todoWrite } from './todo-write.ts';
import { writeFile } from './write-file.ts';

/** The project's own toolset: files, search and commands of one workspace, a plan, and questions to a person. */
export const holdpoint = defineToolset({
  name: 'holdpoint',
  tools: [readFile, writeFile, edit, listDirectory, glob, grep, bash, askUser, todoWrite],
});
