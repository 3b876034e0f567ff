import { basename } from 'node:path';
import type { CreateRun } from '@holdpoint/contract/wire';
import { readText } from '../../deciding/read-text.ts';
import { CliError } from '../../shell/index.ts';

type Kinds = NonNullable<CreateRun['agents']>;

/** The documents of --agent-kind as kinds of a request. Their fields are checked by the API. @throws CliError `usage` */
export async function kindsOf(cwd: string, files: readonly string[] | undefined): Promise<Kinds | undefined> {
  return files && Promise.all(files.map(async (file) => kindOf(file, await readText(cwd, file))));
}

async function kindOf(file: string, text: string): Promise<Kinds[number]> {
  // A lazy import: only runs with kinds need the module.
  const { readKindDocument } = await import('@holdpoint/runtime/operator');
  const read = readKindDocument(text);
  if (!read.ok) throw new CliError('usage', `${file} is no kind of sub-agent: ${read.error}`);
  const { tools, max_turns, limits, ...front } = read.front;
  const names = typeof tools === 'string' ? tools.split(',').map((name) => name.trim()) : tools;
  return {
    name: basename(file).replace(/\.md$/, ''),
    ...front,
    tools: names,
    limits: max_turns === undefined ? limits : { ...(limits as object | undefined), max_turns },
    instructions: read.body.trim(),
  } as Kinds[number];
}
