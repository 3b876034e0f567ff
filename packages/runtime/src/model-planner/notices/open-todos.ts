import type { Json } from '@holdpoint/contract';
import type { PastTurn } from '@holdpoint/engine/worker';
import type { Registry } from '@holdpoint/tools';
import type { Verbatim } from '../context/verbatim.ts';

export interface TodoList {
  /** The turn that wrote the list. */
  turn: number;
  /** How many items are not completed, and the text of the first. */
  open: number;
  first: string;
}

/**
 * The latest list of the model with open items, also from turns that a summary replaced. An item is an object with a `status` of `pending` or
 * `in_progress`, as in the lists of every toolset.
 */
export function openTodos(
  registry: Pick<Registry, 'keepsList'>,
  toolset: string,
  turns: readonly PastTurn[],
  lists: Verbatim['lists'],
): TodoList | undefined {
  const written = turns.flatMap(({ turn, steps }) =>
    steps
      .filter(({ tool, status }) => status === 'succeeded' && registry.keepsList(toolset, tool))
      .map(({ args }) => ({ turn, args })),
  );
  const last =
    written.at(-1) ??
    Object.values(lists)
      .toSorted((a, b) => a.turn - b.turn)
      .at(-1);
  const open = last === undefined ? [] : itemsOf(last.args).filter(isOpen);
  const [first] = open;
  if (last === undefined || first === undefined) return undefined;
  return { turn: last.turn, open: open.length, first: String(first.content ?? first.title ?? '') };
}

type Item = { [name: string]: Json };

const isOpen = ({ status }: Item): boolean => status === 'pending' || status === 'in_progress';

const itemsOf = (args: Json): Item[] =>
  (isItem(args) ? Object.values(args) : []).flatMap((value) => (Array.isArray(value) ? value.filter(isItem) : []));

const isItem = (value: Json): value is Item => typeof value === 'object' && value !== null && !Array.isArray(value);
