import { forModels } from '../../input-schema/for-models.ts';
import { namingNearest } from '../../operations/name-nearest.ts';
import { reportingDiagnostics } from '../../operations/report-diagnostics.ts';
import { duckDuckGoHtml } from '../../search/duckduckgo-html.ts';
import type { SearchPort } from '../../search/port.ts';
import type { Tool } from '../../tool.ts';
import { defineToolset, type Toolset } from '../../toolset.ts';
import { advisoryArguments } from '../advisory-arguments.ts';
import { applyPatch } from './apply-patch.ts';
import { askUser } from './ask-user.ts';
import { bash } from './bash.ts';
import { codeGraph } from './code-graph.ts';
import { glob, listDirectory } from './directories.ts';
import { edit } from './edit.ts';
import { grep } from './grep.ts';
import { instructions } from './instructions.ts';
import { killShell } from './kill-shell.ts';
import { definition, references, rename } from './language.ts';
import { multiEdit } from './multi-edit.ts';
import { readFile } from './read-file.ts';
import { recall } from './recall.ts';
import { remember } from './remember.ts';
import { screenshot } from './screenshot.ts';
import { holdpointSettings, withheldTools } from './settings.ts';
import { submitPlan } from './submit-plan.ts';
import { task } from './task.ts';
import { taskInput } from './task-input.ts';
import { taskMerge } from './task-merge.ts';
import { taskOutput } from './task-output.ts';
import { todoWrite } from './todo-write.ts';
import { webFetch } from './web-fetch.ts';
import { createWebSearch } from './web-search.ts';
import { writeFile } from './write-file.ts';

/**
 * The project's own toolset: files, search, language servers and commands of a workspace, background commands, sub-agents, the web within the run's
 * allowlist, a plan, and questions to a person.
 * @param parts.browser whether workers have a browser. @default false: a model is offered no screenshots
 */
export function createHoldpointToolset({
  search,
  browser,
}: {
  search: SearchPort;
  browser?: boolean | undefined;
}): Toolset {
  return defineToolset({
    name: 'holdpoint',
    advisory: advisoryArguments.holdpoint,
    instructions,
    settings: holdpointSettings,
    withholds: (run) => [...withheldTools(run), ...(browser === true ? [] : [screenshot.name])],
    tools: [
      namingNearest(readFile),
      reportingDiagnostics(writeFile),
      reportingDiagnostics(namingNearest(edit)),
      reportingDiagnostics(namingNearest(multiEdit)),
      reportingDiagnostics(applyPatch),
      namingNearest(listDirectory, { folders: true }),
      namingNearest(glob, { folders: true }),
      namingNearest(grep, { folders: true }),
      codeGraph,
      definition,
      references,
      reportingDiagnostics(rename),
      bash,
      task,
      taskOutput,
      taskInput,
      killShell,
      screenshot,
      taskMerge,
      webFetch,
      createWebSearch(search),
      askUser,
      todoWrite,
      recall,
      remember,
      submitPlan,
    ].map(withModelSchema),
  });
}

/** Uses the search engine that needs no account. */
export const holdpoint = createHoldpointToolset({ search: duckDuckGoHtml() });

function withModelSchema<Own extends Tool>(tool: Own): Own {
  return { modelSchema: forModels, ...tool };
}
