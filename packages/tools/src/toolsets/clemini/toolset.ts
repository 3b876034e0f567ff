import type { Json, SettledCall } from '@holdpoint/contract';
import { duckDuckGoHtml } from '../../search/duckduckgo-html.ts';
import type { SearchPort } from '../../search/port.ts';
import { defineToolset, type Toolset } from '../../toolset.ts';
import { advisoryArguments } from '../advisory-arguments.ts';
import { askUser } from './ask-user.ts';
import { bash, cleminiSettings } from './bash.ts';
import { edit } from './edit.ts';
import { errorOf } from './errors.ts';
import { glob } from './glob.ts';
import { grep } from './grep.ts';
import { killShell } from './kill-shell.ts';
import { readFile } from './read-file.ts';
import { cleminiCautions, cleminiRules } from './rules.ts';
import { task } from './task.ts';
import { taskOutput } from './task-output.ts';
import { todoWrite } from './todo-write.ts';
import { webFetch } from './web-fetch.ts';
import { createWebSearch } from './web-search.ts';
import { writeFile } from './write-file.ts';

/** Text for a model before its task. */
const instructions = `How to use the tools:
- Find files by name with glob. Search their contents with grep, never with grep or rg in bash.
- Change existing code with edit. Use write_file only for new files and complete rewrites.
- Build and test with bash; set run_in_background for what takes long, and read it with task_output.
- Delegate complex or parallel work with task; set background to work beside it.
- Ask with ask_user rather than guess.
- For work of several steps write the todos first with todo_write, then work through them.`;

/** The contract's result: the tool's value, or `{error, error_code, suggestions?, context?}`. */
export function presentClemini(call: SettledCall): Json {
  if (call.status === 'succeeded') return isObject(call.value) ? call.value : { result: call.value ?? null };
  const { code, text } = errorOf(call);
  const { suggestions, ...context } = isObject(call.value) ? call.value : {};
  return {
    error: text,
    error_code: code,
    ...(code === 'NEEDS_CONFIRMATION' && { needs_confirmation: true }),
    ...(suggestions !== undefined && { suggestions }),
    context: { ...context, reason: call.error?.code ?? call.status },
  };
}

const isObject = (value: Json | undefined): value is Record<string, Json> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

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
