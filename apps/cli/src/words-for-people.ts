import { commandLine, commandName } from './shell/index.ts';

/** Requests named in the API's advice, and the matching action for a user of the command. The longest come first. */
const commands: readonly (readonly [request: RegExp, words: () => string])[] = [
  [/\bGET \/v1\/toolsets\/\{name\}/g, () => quoted('tools', 'list', '--toolset <name>')],
  [/\bGET \/v1\/toolsets\b/g, () => quoted('tools', 'list')],
  [/\bGET \/v1\/tools\b/g, () => quoted('tools', 'list')],
  [/\bGET \/v1\/runs\/\{id\}\/steps/g, () => quoted('runs', 'steps', '<run>')],
  [/\bGET \/v1\/runs\/\{id\}\/tasks/g, () => quoted('tasks', 'list', '<run>')],
  [/\bGET \/v1\/runs\/\{id\}\/validation/g, () => quoted('runs', 'validation', '<run>')],
  [/\bPOST \/v1\/runs\/\{id\}\/messages/g, () => quoted('runs', 'say', '<run>')],
  [/\bGET \/v1\/runs\b/g, () => quoted('runs', 'list')],
  [/\bPOST \/v1\/approvals\/\{id\}\/delegate/g, () => quoted('approvals', 'delegate', '<approval>')],
  [
    /\bGET \/v1\/approvals\/\{id\}\/content, and send its content_digest with the decision/g,
    () => `${quoted('approvals', 'content', '<approval>')}, and pass its digest with --content`,
  ],
  [/\bGET \/v1\/approvals(\?status=pending)?/g, () => quoted('approvals', 'list')],
  [/\bGET \/v1\/policies\/\{name\}\/versions/g, () => quoted('policy', 'history', '<name>')],
  [/\bGET \/v1\/policies\b/g, () => quoted('policy', 'list')],
  [/\bGET \/v1\/secrets\b/g, () => quoted('secrets', 'list')],
  [/\bGET \/v1\/passkeys\b/g, () => quoted('passkeys', 'list')],
  [/\bDELETE \/v1\/passkeys\/\{id\}/g, () => quoted('passkeys', 'revoke', '<passkey>')],
  [/\bGET \/v1\/rules\b/g, () => quoted('rules', 'list')],
  [/\bPOST \/v1\/keys\b/g, () => quoted('keys', 'create')],
  [/\bGET \/v1\/me\b/g, () => quoted('keys', 'whoami')],
  [/Correct what `errors` names and send the request again; n/g, () => 'N'],
  [/Correct what `errors` names[:;] /g, () => ''],
  [/Correct the (steps|rules) that `errors` names/g, () => 'Correct them'],
  [/, or send the document\b/g, () => ', or give a file'],
  [/Read `conflicts`, bring\b/g, () => 'Bring'],
  [/`prepare\.network\.allow`/g, () => '--set prepare.network.allow'],
  [/\bit was not 2xx\b/g, () => 'it was refused'],
];

const quoted = (...words: string[]): string => `\`${commandLine(...words)}\``;

/** Advice of the API or of a package, with command lines in place of requests. */
export const adviceText = (text: string): string =>
  commands
    .reduce((before, [request, words]) => before.replace(request, words), text)
    .replaceAll('`holdpoint ', `\`${commandName} `);

/** The findings of a schema, without the words of the validation library. */
export const mistakeText = (text: string): string =>
  text
    .replace(/Invalid input: expected nonoptional, received undefined/g, 'this is missing')
    .replace(/Invalid input: expected (\w+), received undefined/g, 'this is missing')
    .replace(
      /Invalid input: expected (\w+), received (\w+)/g,
      (_, expected, given) => `expected ${noun(expected)}, not ${noun(given)}`,
    )
    .replace(
      /Too small: expected (\w+) to have >=(\d+) (\w+)/g,
      (_, what, least, of) => `${noun(what)} with at least ${least} ${of}`,
    )
    .replace(
      /Too big: expected (\w+) to have <=(\d+) (\w+)/g,
      (_, what, most, of) => `${noun(what)} with at most ${most} ${of}`,
    )
    .replace(
      /Too small: expected (\w+) to be (>=?)(\S+)/g,
      (_, what, sign, least) => `expected ${noun(what)} ${sign === '>' ? 'above' : 'of at least'} ${least}`,
    )
    .replace(
      /Too big: expected (\w+) to be (<=?)(\S+)/g,
      (_, what, sign, most) => `expected ${noun(what)} ${sign === '<' ? 'below' : 'of at most'} ${most}`,
    )
    .replace(/Invalid option: expected one of /g, 'expected one of ')
    .replace(/\bInvalid input\b/g, 'this is not valid here');

const noun = (type: string): string => nouns[type] ?? type;

const nouns: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
  record: 'a mapping',
  null: 'nothing',
  NaN: 'a text',
};
