import { duckDuckGoHtml } from '../../search/duckduckgo-html.ts';
import type { SearchPort } from '../../search/port.ts';
import { defineToolset, type Toolset } from '../../toolset.ts';
import { advisoryArguments } from '../advisory-arguments.ts';
import { askUser } from './ask-user.ts';
import { bash, cleminiSettings } from './bash.ts';
import { edit } from './edit.ts';
import { glob } from './glob.ts';
import { grep } from './grep.ts';
import { instructions } from './instructions.ts';
import { killShell } from './kill-shell.ts';
import { presentClemini } from './present.ts';
import { readFile } from './read-file.ts';
import { cleminiCautions, cleminiRules } from './rules.ts';
import { task } from './task.ts';
import { taskOutput } from './task-output.ts';
import { todoWrite } from './todo-write.ts';
import { webFetch } from './web-fetch.ts';
import { createWebSearch } from './web-search.ts';
import { writeFile } from './write-file.ts';

/** Tools of a coding agent: files, search, commands and tasks in the background, the web, a list of todos, questions to a person. */
export function createCleminiToolset({ search }: { search: SearchPort }): Toolset {
  return defineToolset({
    name: 'clemini',
    advisory: advisoryArguments.clemini,
    tools: [
      ...[readFile, writeFile, edit, glob, grep, bash, killShell, task, taskOutput, askUser, todoWrite],
      createWebSearch(search),
      webFetch,
    ],
    rules: cleminiRules,
    cautions: cleminiCautions,
    settings: cleminiSettings,
    instructions,
    present: presentClemini,
  });
}

/** Uses the search engine that needs no account. */
export const clemini = createCleminiToolset({ search: duckDuckGoHtml() });
