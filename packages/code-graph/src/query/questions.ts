import { nearestNames } from '@holdpoint/contract';
import { badParams } from './bad-params.ts';
import { definition } from './definition.ts';
import { files } from './files.ts';
import { importers, imports } from './imports.ts';
import { outline } from './outline.ts';
import { references } from './references.ts';
import type { Question } from './row.ts';
import { summary } from './summary.ts';
import { symbols } from './symbols.ts';
import { unparsed } from './unparsed.ts';

const questions = { files, symbols, definition, references, imports, importers, outline, unparsed, summary };
export const questionNames = Object.keys(questions) as (keyof typeof questions)[];

export interface PageParams {
  limit: number;
  cursor?: string | undefined;
}

/** @throws CodeGraphError */
export function questionOf(name: string): Question<PageParams> {
  const known = questionNames.find((one) => one === name);
  if (known !== undefined) return questions[known] as unknown as Question<PageParams>;
  const [near = ''] = nearestNames(name, questionNames, 1);
  const message = `/query: there is no query ${JSON.stringify(name.slice(0, 100))}. Nearest: ${near}`;
  throw badParams(message, `Queries: ${questionNames.join(', ')}.`);
}
