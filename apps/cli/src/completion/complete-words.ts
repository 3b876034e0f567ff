import type { Argument, Command, Option } from 'commander';
import { type IdKind, idKinds } from '../naming/ids.ts';
import { listFields } from '../request/fields.ts';

export interface Candidate {
  value: string;
  description: string;
  /** The short form of an id, usable in its place. */
  short?: string;
}

/** The possible words at the cursor. */
export type Completion = Candidate[] | 'file';

/** Ids known to the API alone. */
export type ListIds = (kind: IdKind) => Promise<Candidate[]>;

/**
 * Completes the last word of a command line from the tree of commands.
 *
 * @param words the words behind the name of the program; the last word may be empty
 */
export async function completeWords(program: Command, words: readonly string[], listIds: ListIds): Promise<Completion> {
  const ofField = choicesIn(words);
  if (ofField !== undefined) return ofField;
  // bash takes `--format=zip` apart at the `=`.
  const [last = '', ...before] = words.map((word) => (word === '=' ? '' : word)).toReversed();
  const { command, operands, option, isOver } = readWords(program, before.toReversed());
  const isNext = option?.optional === true && last.startsWith('-');
  if (option !== undefined && !isNext)
    return startingWith(last, await valuesOf(option.flags, option.argChoices, listIds));
  const [, name, value] = /^(--[^=]+)=(.*)$/s.exec(last) ?? [];
  const assigned = name === undefined ? undefined : command.options.find(({ long }) => long === name);
  if (assigned !== undefined && value !== undefined) {
    const values = startingWith(value, await valuesOf(assigned.flags, assigned.argChoices, listIds));
    return values === 'file' ? values : values.map((one) => ({ ...one, value: `${name}=${one.value}` }));
  }
  if (last.startsWith('-') && !isOver) return startingWith(last, optionsOf(command));
  const argument = command.registeredArguments[operands];
  const values = argument === undefined ? [] : await operandsOf(argument, listIds);
  return startingWith(last, [...(operands === 0 ? subcommandsOf(command) : []), ...values]);
}

interface Position {
  command: Command;
  /** Words so far other than options, their values and commands. */
  operands: number;
  /** The option in wait for its value. */
  option?: Option;
  /** After `--` there are no more options. */
  isOver: boolean;
}

function readWords(program: Command, words: readonly string[]): Position {
  let at: Position = { command: program, operands: 0, isOver: false };
  for (const word of words.filter((one) => one !== '')) {
    const { command, operands, option, isOver } = at;
    const child = operands === 0 ? command.commands.find((one) => one.name() === word) : undefined;
    // An optional value is missing where the next option begins.
    const isValue = option?.required || (option !== undefined && !word.startsWith('-'));
    if (isValue) at = { command, operands, isOver };
    else if (word === '--') at = { command, operands, isOver: true };
    else if (word.startsWith('-') && !isOver) {
      const found = command.options.find(({ long, short }) => word === long || word === short);
      at = { command, operands, isOver, option: found?.required || found?.optional ? found : undefined };
    } else if (child !== undefined) at = { command: child, operands: 0, isOver };
    else at = { command, operands: operands + 1, isOver };
  }
  return at;
}

async function operandsOf(argument: Argument, listIds: ListIds): Promise<Candidate[]> {
  const kind = idKinds.find((one) => one === argument.name());
  if (kind !== undefined) return listIds(kind);
  return argument.argChoices?.map((value) => ({ value, description: '' })) ?? [];
}

/** @param flags for example `--plan [file]`: the word in brackets is the kind of the value */
async function valuesOf(flags: string, choices: readonly string[] | undefined, listIds: ListIds): Promise<Completion> {
  if (choices !== undefined) return choices.map((value) => ({ value, description: '' }));
  const [, kind] = /[<[]([^>\]]+)[>\]]/.exec(flags) ?? [];
  const ids = idKinds.find((one) => one === kind);
  if (ids !== undefined) return listIds(ids);
  if (kind === 'path=value') return fieldsToSet();
  return kind === 'file' || kind === 'path' ? 'file' : [];
}

const endOf = { value: '=', list: '+=', names: '.' } as const;

/** The paths of `--set`, up to the value or to a name of the caller's choice. A field with choices is followed by these. */
const fieldsToSet = (): Candidate[] =>
  listFields().flatMap(({ path, kind, description, choices }) => [
    { value: `${path}${endOf[kind]}`, description },
    ...choices.map((choice) => ({ value: `${path}=${choice}`, description })),
  ]);

/** The choices of a field whose `path=value` bash took apart at the `=`. */
function choicesIn(words: readonly string[]): Candidate[] | undefined {
  const [option, path, equals, value = ''] = words.slice(words.lastIndexOf('--set'));
  if (option !== '--set' || equals !== '=') return undefined;
  const field = listFields().find((one) => one.path === path);
  return startingWith(
    value,
    (field?.choices ?? []).map((choice) => ({ value: choice, description: '' })),
  ) as Candidate[];
}

function optionsOf(command: Command): Candidate[] {
  const visible = command.createHelp().visibleOptions(command);
  return visible.map(({ long, short, description }) => ({ value: long ?? short ?? '', description }));
}

function subcommandsOf(command: Command): Candidate[] {
  const visible = command.createHelp().visibleCommands(command);
  return visible.map((one) => ({ value: one.name(), description: one.description() }));
}

/** Candidates with the typed beginning, and ids with the typed short id. */
function startingWith(start: string, found: Completion): Completion {
  if (found === 'file') return found;
  const beginning = found.filter(({ value }) => value.startsWith(start));
  return beginning.length > 0 ? beginning : found.filter(({ short }) => start.length > 1 && short?.startsWith(start));
}
