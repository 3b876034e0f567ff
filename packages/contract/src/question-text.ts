import { type OutsideQuestion, type QuestionField, questionBounds } from './outside-question.ts';

/**
 * The question of an outside server for a person. Each line of the server begins with a bar, and its names and values stand in quotes, so
 * no word of the server looks like a word of Holdpoint.
 */
export function questionText({ server, tool, requests }: OutsideQuestion, round: number): string {
  const isOne = requests.length === 1;
  return [
    `The MCP server ${server} asks before ${quoted(tool)} continues (question ${round} of ${questionBounds.rounds}). A bar marks its words.`,
    ...requests.flatMap(({ key, message, fields }) => [
      '',
      ...(isOne ? [] : [`For ${quoted(key)}:`]),
      ...message.split(/\r\n|[\n\v\f\r\u0085\u2028\u2029]/).map((line) => `| ${line}`),
      ...fields.flatMap(fieldLines),
    ]),
    '',
    howToAnswer(requests),
    ...requests
      .flatMap(({ fields }) => fields)
      .filter(({ secret }) => secret)
      .map(secretLine),
  ].join('\n');
}

/** Answers to choose from; none where a JSON object is expected. */
export function questionOptions({ requests }: OutsideQuestion): string[] {
  const fields = requests.flatMap((request) => request.fields);
  const [field] = fields;
  if (requests.length > 1 || fields.length > 1) return [];
  if (field === undefined) return ['yes'];
  if (field.type === 'boolean') return ['yes', 'no'];
  return field.type === 'choice' ? field.options.map(({ value }) => value) : [];
}

function fieldLines(field: QuestionField): string[] {
  const { name, title, description, required } = field;
  const said = [title, description].filter((text) => text !== undefined).map((text) => `  | ${inOneLine(text)}`);
  return [`- ${quoted(name)}: ${kindText(field)}${required ? '' : ', optional'}`, ...said];
}

function kindText(field: QuestionField): string {
  switch (field.type) {
    case 'text': {
      const { min_length: least, max_length: most, format } = field;
      return `a text${format === undefined ? '' : ` (${format})`}${range(least, most, 'characters')}`;
    }
    case 'number':
    case 'integer':
      return `a ${field.type === 'integer' ? 'whole ' : ''}number${range(field.minimum, field.maximum, '')}`;
    case 'boolean':
      return 'yes or no';
    case 'choice':
      return `one of ${optionsText(field.options)}`;
    case 'choices':
      return `a list of ${optionsText(field.options)}${range(field.min_items, field.max_items, 'values')}`;
    default:
      return field satisfies never;
  }
}

const optionsText = (options: readonly { value: string; title?: string | undefined }[]): string =>
  options.map(({ value, title }) => quoted(value) + (title === undefined ? '' : ` (${quoted(title)})`)).join(', ');

function range(least: number | undefined, most: number | undefined, unit: string): string {
  if (least === undefined && most === undefined) return '';
  const bounds = [least === undefined ? '' : `from ${least}`, most === undefined ? '' : `to ${most}`];
  return `, ${[...bounds, unit].filter((part) => part !== '').join(' ')}`;
}

function howToAnswer(requests: OutsideQuestion['requests']): string {
  const fields = requests.flatMap((request) => request.fields);
  if (requests.length > 1)
    return `Answer with a JSON object of ${requests.map(({ key }) => quoted(key)).join(', ')}, each with its values by name.`;
  if (fields.length === 0) return 'Any answer lets the call continue.';
  return fields.length === 1
    ? 'Answer with the value.'
    : `Answer with a JSON object of ${fields.map(({ name }) => quoted(name)).join(', ')}.`;
}

const secretLine = ({ name }: QuestionField): string =>
  `${quoted(name)} seems to ask for a password or a key. An answer goes to the server, and stays readable in the log of the run.`;

const inOneLine = (text: string): string => text.replace(/[\s\u0085\u2028\u2029]+/g, ' ').trim();

/** In one line: JSON leaves some characters that end a line as they are. */
const quoted = (text: string): string =>
  JSON.stringify(text).replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
