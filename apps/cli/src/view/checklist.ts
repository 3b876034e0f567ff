import type { Payload } from '@holdpoint/contract';
import { oneLine } from '@holdpoint/readable';
import { z } from 'zod';
import { payloadValue } from '../output/index.ts';
import type { Colors } from '../shell/index.ts';

const statusSchema = z.enum(['pending', 'in_progress', 'completed']);
const todosSchema = z.looseObject({
  todos: z.array(z.looseObject({ content: z.string(), status: statusSchema })),
});

export interface Todo {
  text: string;
  status: z.infer<typeof statusSchema>;
}

/** The todos written by a call of any toolset. Undefined: another call, or a call with a cut list. */
export function todosIn(args: Payload): Todo[] | undefined {
  const read = todosSchema.safeParse(payloadValue(args)).data;
  return read?.todos.map(({ content, status }) => ({ text: oneLine(content), status }));
}

export const doneText = (todos: readonly Todo[]): string =>
  `${todos.filter(({ status }) => status === 'completed').length} of ${todos.length} done`;

const marks = { pending: '☐', in_progress: '▸', completed: '☑' } as const;

export const todoText = ({ text, status }: Todo): string => `${marks[status]} ${text}`;

/** Finished work is faint, work in progress stands out. */
export const todoPaint = ({ status }: Todo, colors: Colors): ((text: string) => string) =>
  status === 'completed' ? colors.dim : status === 'in_progress' ? colors.bold : (text) => text;
