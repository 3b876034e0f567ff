import type { Client } from '@holdpoint/client';
import { idPrefixes, stepIdSchema } from '@holdpoint/contract';
import type { Run } from '@holdpoint/contract/wire';
import { oneLine } from '@holdpoint/readable';
import type { Command } from 'commander';
import { CliError, commandLine, type Shell } from '../shell/index.ts';

export const idKinds = ['run', 'approval', 'task', 'rule', 'key'] as const;
export type IdKind = (typeof idKinds)[number];

interface Found {
  id: string;
  about: string;
}

/** How far back short ids and `@last` are looked for. */
const latestRuns = 1000;
/** A task is found through its run, among this many latest runs. */
export const runsWithTasks = 30;

/** @throws CliError `unknown_id` when the text is an id of another kind */
function refuseOtherKind(kind: IdKind, text: string): void {
  const other = Object.entries(idPrefixes).find(([, prefix]) => text.startsWith(`${prefix}_`))?.[0];
  if (other === undefined || other === kind) return;
  throw new CliError('unknown_id', `${text} is the id of another kind (${other}), and the command takes a ${kind}.`, {
    next: listOf(kind),
  });
}

/** Whether a text is a short form of an id. */
const isShort = (kind: IdKind, text: string): boolean =>
  (kind === 'run' && text.startsWith('@')) || shortIdIn(text, idPrefixes[kind]) !== undefined;

/**
 * Finds a person's id: the whole id, a few of its characters, or `@last` for the latest run submitted by this caller (`@last~1`: the run
 * before). Other texts are unchanged, and the API refuses them.
 *
 * @throws CliError `ambiguous_id` with the candidates, `unknown_id`; ApiError, ConnectionError
 */
async function findId(client: Client, kind: IdKind, text: string): Promise<string> {
  const last = /^@last(?:~(\d{1,4}))?$/.exec(text);
  if (kind === 'run' && last !== null) return lastRun(client, Number(last[1] ?? 0));
  if (kind === 'run' && text.startsWith('@')) {
    throw new CliError('usage', `There is no short form ${text} of an id.`, {
      next: 'Write @last, or @last~1 for the run before it.',
    });
  }
  const short = shortIdIn(text, idPrefixes[kind]);
  if (short === undefined) return text;
  const found = await fitting(client, kind, short);
  const [only, second] = found;
  if (only === undefined) {
    throw new CliError('unknown_id', `${missing[kind]} has the short id ${text}.`, { next: listOf(kind) });
  }
  if (second === undefined) return only.id;
  const lines = found.slice(0, 10).map(({ id, about }) => `  ${id}  ${oneLine(about, 60)}`);
  throw new CliError('ambiguous_id', [`${found.length} ids fit ${text}:`, ...lines].join('\n'));
}

const missing: Record<IdKind, string> = {
  run: `None of the latest ${latestRuns} runs`,
  approval: 'No open approval',
  task: `No task of the latest ${runsWithTasks} runs`,
  rule: 'No remembered rule',
  key: 'No key',
};

const listOf = (kind: IdKind): string =>
  ({
    run: `To list runs: ${commandLine('runs', 'list')}`,
    approval: `To list open approvals: ${commandLine('approvals', 'list')}`,
    task: `To list the tasks of a run: ${commandLine('tasks', 'list', '<run>')}`,
    rule: `To list remembered rules: ${commandLine('rules', 'list')}`,
    key: `To list keys: ${commandLine('keys', 'list')}`,
  })[kind];

async function fitting(client: Client, kind: IdKind, short: string): Promise<Found[]> {
  switch (kind) {
    case 'run': {
      const runs = await Array.fromAsync(walkRuns(client));
      return runs
        .filter(({ id }) => isShortFor(id, short))
        .map(({ id, status, title }) => ({ id, about: `${status}: ${title}` }));
    }
    case 'approval':
      return (await everyPage((cursor) => client.listApprovals({ limit: 200, cursor })))
        .filter(({ id }) => isShortFor(id, short))
        .map(({ id, action, run_title }) => ({ id, about: `${action.tool}: ${run_title}` }));
    case 'task': {
      const { data: runs } = await client.listRuns({ limit: runsWithTasks });
      const tasks = await Promise.all(runs.map(({ id }) => client.listTasks(id)));
      return tasks
        .flat()
        .filter(({ id }) => isShortFor(id, short))
        .map(({ id, status, title }) => ({ id, about: `${status}: ${title}` }));
    }
    case 'rule':
      return (await everyPage((cursor) => client.listRules({ limit: 200, cursor })))
        .filter(({ id }) => isShortFor(id, short))
        .map(({ id, tool, created_by }) => ({ id, about: `${tool}, made by ${created_by}` }));
    case 'key':
      return (await everyPage((cursor) => client.listKeys({ limit: 200, cursor })))
        .filter(({ id }) => isShortFor(id, short))
        .map(({ id, name }) => ({ id, about: name }));
    default:
      return kind satisfies never;
  }
}

/** @throws CliError `unknown_id` */
async function lastRun(client: Client, before: number): Promise<string> {
  const { name } = await client.getMe();
  let left = before;
  for await (const { id, created_by, parent } of walkRuns(client)) {
    if (created_by === name && parent === null && left-- === 0) return id;
  }
  const which = before === 0 ? 'no run' : `fewer than ${before + 1} runs`;
  throw new CliError('unknown_id', `${name} has submitted ${which} among the latest ${latestRuns}.`, {
    next: listOf('run'),
  });
}

/** The latest runs, newest first. */
async function* walkRuns(client: Client): AsyncGenerator<Run> {
  let cursor: string | undefined;
  for (let seen = 0; seen < latestRuns; ) {
    const page = await client.listRuns({ limit: 200, cursor });
    yield* page.data;
    seen += page.data.length;
    if (page.next_cursor === null) return;
    cursor = page.next_cursor;
  }
}

type ListPage<Entry> = (cursor: string | undefined) => Promise<{ data: Entry[]; next_cursor: string | null }>;

async function everyPage<Entry>(list: ListPage<Entry>): Promise<Entry[]> {
  const found: Entry[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await list(cursor);
    found.push(...page.data);
    if (page.next_cursor === null) return found;
    cursor = page.next_cursor;
  }
}

/** Fewest characters of a short id: fewer would soon be ambiguous. */
const leastCharacters = 4;

/** The forms of a short id: characters of its last block, or its end. Undefined: another kind of text. */
export function shortIdIn(text: string, prefix: string): string | undefined {
  const given = text.startsWith(`${prefix}_`) ? text.slice(prefix.length + 1) : text;
  const digits = given.replaceAll('-', '');
  return /^[0-9a-f]+$/.test(digits) && digits.length >= leastCharacters && digits.length < 32 ? digits : undefined;
}

/** Whether a short form stands for an id: the end of the id, the begin of its last block, or the begin of the whole id. */
export function isShortFor(id: string, short: string): boolean {
  const [, uuid = ''] = id.split('_');
  const digits = uuid.replaceAll('-', '');
  return digits.endsWith(short) || digits.slice(-lastBlock).startsWith(short) || digits.startsWith(short);
}

/** As lists and messages show an id to people: the end of an id, the beginning of a snapshot. Other texts stay as they are. */
export function shortId(id: string): string {
  if (/^[0-9a-f]{40}$/.test(id)) return id.slice(0, shownOfSnapshot);
  return /^[a-z]+_[0-9a-f-]{36}$/.test(id) ? id.slice(-shown) : id;
}

const lastBlock = 12;
const shown = 8;
const shownOfSnapshot = 10;

/**
 * Completes the given ids of a command before the command begins: its arguments `<run>`, `<approval>`, `<task>`, `<rule>` and `<key>`, and
 * options such as `--run <run>`.
 */
export async function completeIds(shell: Shell, command: Command): Promise<void> {
  const { url } = command.optsWithGlobals<{ url?: string }>();
  const whole = async (kind: IdKind, text: string): Promise<string> => {
    refuseOtherKind(kind, text);
    return isShort(kind, text) ? findId(await shell.connect(url), kind, text) : text;
  };
  for (const [index, argument] of command.registeredArguments.entries()) {
    const kind = idKinds.find((one) => one === argument.name());
    const text: unknown = command.processedArgs[index];
    if (kind === undefined || typeof text !== 'string' || standsAlone(command, text)) continue;
    command.processedArgs[index] = await whole(kind, text);
  }
  for (const option of command.options) {
    const kind = idKinds.find((one) => option.flags.includes(`<${one}>`));
    const name = option.attributeName();
    const text: unknown = command.getOptionValue(name);
    if (kind !== undefined && typeof text === 'string') command.setOptionValue(name, await whole(kind, text));
  }
}

/** The whole id of a step names its run, so a command with an optional `[step]` takes the id in place of the run. */
const standsAlone = (command: Command, text: string): boolean =>
  stepIdSchema.safeParse(text).success &&
  command.registeredArguments.some((argument) => argument.name() === 'step' && !argument.required);
