import { z } from 'zod';
import { type OutsideAnswers, type OutsideQuestion, type QuestionField, questionBounds } from './outside-question.ts';

type Value = z.core.util.JSONType;
type Values = Record<string, Value>;
type Read<Found> = { ok: true; value: Found } | { ok: false; problem: string };

/**
 * The values in the words of a person. A question with one field takes the value itself, and one without fields any words; otherwise the
 * words are a JSON object of the fields, or of the requests by their keys when there are several.
 */
export function readAnswers({ requests }: OutsideQuestion, said: string): Read<OutsideAnswers> {
  if (new TextEncoder().encode(said).length > questionBounds.answer) {
    return refuse(`the answer has more than ${questionBounds.answer} bytes`);
  }
  const [first, ...others] = requests;
  if (first === undefined) return { ok: true, value: {} };
  if (others.length === 0) return named(first.key, readOne(first.fields, said));
  const given = objectIn(said);
  if (given === undefined) return refuse(`the answer is no JSON object with ${list(requests.map(({ key }) => key))}`);
  const unknown = unknownName(
    given,
    requests.map(({ key }) => key),
  );
  if (unknown !== undefined) return refuse(unknown);
  const answers: [string, Values][] = [];
  for (const { key, fields } of requests) {
    const values = Object.hasOwn(given, key) ? asObject(given[key]) : fields.length === 0 ? {} : undefined;
    if (values === undefined) return refuse(`${JSON.stringify(key)} is no JSON object`);
    const read = readFields(fields, values);
    if (!read.ok) return refuse(`${JSON.stringify(key)}: ${read.problem}`);
    answers.push([key, read.value]);
  }
  return { ok: true, value: Object.fromEntries(answers) };
}

function named(key: string, read: Read<Values>): Read<OutsideAnswers> {
  return read.ok ? { ok: true, value: Object.fromEntries([[key, read.value]]) } : read;
}

function readOne(fields: readonly QuestionField[], said: string): Read<Values> {
  const [field, ...others] = fields;
  if (field === undefined) return { ok: true, value: {} };
  const given = objectIn(said);
  if (others.length === 0 && (given === undefined || !Object.hasOwn(given, field.name))) {
    return readFields(fields, Object.fromEntries([[field.name, spoken(field, said.trim())]]));
  }
  if (given !== undefined) return readFields(fields, given);
  return refuse(`the answer is no JSON object with ${list(fields.map(({ name }) => name))}`);
}

/** The value meant by plain words. Words without such a value stay a text, and the check refuses them. */
function spoken(field: QuestionField, said: string): Value {
  switch (field.type) {
    case 'text':
      return said;
    case 'number':
    case 'integer':
      return said === '' || !Number.isFinite(Number(said)) ? said : Number(said);
    case 'boolean':
      return /^(yes|true)$/i.test(said) ? true : /^(no|false)$/i.test(said) ? false : said;
    case 'choice':
      return field.options.find(({ value, title }) => value === said || title === said)?.value ?? said;
    case 'choices':
      return listIn(said) ?? said.split(',').map((part) => part.trim());
    default:
      return field satisfies never;
  }
}

function readFields(fields: readonly QuestionField[], given: Values): Read<Values> {
  const unknown = unknownName(
    given,
    fields.map(({ name }) => name),
  );
  if (unknown !== undefined) return refuse(unknown);
  const values: [string, Value][] = [];
  for (const field of fields) {
    const value = Object.hasOwn(given, field.name) ? given[field.name] : undefined;
    if (value === undefined && !field.required) continue;
    const mistake = value === undefined ? 'it is missing' : mistakeIn(field, value);
    if (value === undefined || mistake !== undefined) return refuse(`${JSON.stringify(field.name)}: ${mistake}`);
    values.push([field.name, value]);
  }
  return { ok: true, value: Object.fromEntries(values) };
}

function mistakeIn(field: QuestionField, value: Value): string | undefined {
  switch (field.type) {
    case 'text':
      return mistakeInText(field, value);
    case 'number':
    case 'integer': {
      if (typeof value !== 'number') return 'expected a number';
      if (field.type === 'integer' && !Number.isSafeInteger(value)) return 'expected a whole number';
      const { minimum = -Infinity, maximum = Infinity } = field;
      return value < minimum || value > maximum ? `expected a number from ${minimum} to ${maximum}` : undefined;
    }
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'expected true or false';
    case 'choice':
      return field.options.some((one) => one.value === value) ? undefined : expectedOf(field.options);
    case 'choices': {
      const chosen = Array.isArray(value) ? value : undefined;
      if (chosen?.every((one) => field.options.some((option) => option.value === one)) !== true)
        return `expected a list: ${expectedOf(field.options)}`;
      const { min_items = 0, max_items = field.options.length } = field;
      const isOften = new Set(chosen).size < chosen.length;
      if (isOften) return 'expected each value once';
      return chosen.length < min_items || chosen.length > max_items
        ? `expected ${min_items} to ${max_items} of the values`
        : undefined;
    }
    default:
      return field satisfies never;
  }
}

const formats = {
  email: z.email(),
  uri: z.string().refine((text) => URL.canParse(text)),
  date: z.iso.date(),
  'date-time': z.iso.datetime({ offset: true }),
};

function mistakeInText(
  { min_length: least = 0, max_length: most = Infinity, format }: Extract<QuestionField, { type: 'text' }>,
  value: Value,
): string | undefined {
  if (typeof value !== 'string') return 'expected a text';
  // JSON Schema counts code points.
  const { length } = [...value];
  if (length < least || length > most) return `expected ${least} to ${most} characters`;
  return format === undefined || formats[format].safeParse(value).success ? undefined : `expected the format ${format}`;
}

const refuse = (problem: string) => ({ ok: false as const, problem });
const list = (names: readonly string[]): string => names.map((name) => JSON.stringify(name)).join(', ');
const expectedOf = (options: readonly { value: string }[]): string =>
  `expected one of ${list(options.map(({ value }) => value))}`;

function unknownName(given: Values, names: readonly string[]): string | undefined {
  const unknown = Object.keys(given).find((name) => !names.includes(name));
  return unknown === undefined ? undefined : `${JSON.stringify(unknown.slice(0, 100))} is not asked for`;
}

const parsed = (said: string): Value | undefined => {
  try {
    return JSON.parse(said);
  } catch {
    return undefined;
  }
};
const asObject = (value: Value | undefined): Values | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
const objectIn = (said: string): Values | undefined => asObject(parsed(said));
function listIn(said: string): Value[] | undefined {
  const value = parsed(said);
  return Array.isArray(value) ? value : undefined;
}
