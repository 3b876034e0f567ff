import { defineToolset, type Toolset } from '../../toolset.ts';
import { duckDuckGoHtml } from '../../web/search/duckduckgo-html.ts';
import type { SearchPort } from '../../web/search/port.ts';
import { askUser } from './ask-user.ts';
import { bash } from './bash.ts';
import { glob, listDirectory } from './directories.ts';
import { edit, readFile, writeFile } from './files.ts';
import { grep } from './grep.ts';
import { task } from './task.ts';
import { killShell, taskMerge, taskOutput } from './tasks.ts';
import { todoWrite } from './todo-write.ts';
import { createWebSearch, webFetch } from './web.ts';

/** The project's own toolset: files, search and commands of one workspace, background commands, sub-agents, the web within the run's allowlist, a plan, and questions to a person. */
export const createHoldpointToolset = ({ search }: { search: SearchPort }): Toolset =>
  defineToolset({
    name: 'holdpoint',
    tools: [
      readFile,
      writeFile,
      edit,
      listDirectory,
      glob,
      grep,
      bash,
      task,
      taskOutput,
      killShell,
      taskMerge,
      webFetch,
      createWebSearch(search),
      askUser,
      todoWrite,
    ],
  });

/** Uses the search engine that needs no account. */
export const holdpoint = createHoldpointToolset({ search: duckDuckGoHtml() });
