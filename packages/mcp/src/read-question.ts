import * as contract from '@holdpoint/contract';
import type { InputRequiredResult, InputResponses } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { depthOf } from './bounds.ts';
import { McpError } from './errors.ts';

const option = z.object({ const: z.string(), title: z.string().optional() });
const propertySchema = z.object({
  type: z.string().optional(),
  title: z.string().optional(),
  description: z.string().optional(),
  format: z.string().optional(),
  minLength: z.int().min(0).optional(),
  maxLength: z.int().min(0).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minItems: z.int().min(0).optional(),
  maxItems: z.int().min(0).optional(),
  enum: z.array(z.string()).optional(),
  enumNames: z.array(z.string()).optional(),
  oneOf: z.array(option).optional(),
  items: z
    .object({
      enum: z.array(z.string()).optional(),
      anyOf: z.array(option).optional(),
      oneOf: z.array(option).optional(),
    })
    .optional(),
});
type Property = z.infer<typeof propertySchema>;

const formSchema = z.object({
  type: z.literal('object'),
  properties: z.record(z.string(), z.unknown()).default({}),
  required: z.array(z.string()).default([]),
});

type Read<Found> = Found | { problem: string };

/** The values of a flat form, as the protocol allows it. @param message the words above the form */
function readFields(schema: unknown, message: string): Read<{ fields: contract.QuestionField[] }> {
  const form = formSchema.safeParse(schema);
  if (!form.success) return { problem: 'its schema is no object' };
  const { required } = form.data;
  const properties = Object.entries(form.data.properties);
  if (properties.length > contract.questionBounds.fields)
    return { problem: `more than ${contract.questionBounds.fields} values` };
  const unknown = required.find((name) => !properties.some(([one]) => one === name));
  if (unknown !== undefined) return { problem: 'it requires a value that it does not describe' };
  const fields: contract.QuestionField[] = [];
  for (const [name, given] of properties) {
    const property = propertySchema.safeParse(given).data;
    const typed = property && typeOf(property);
    if (property === undefined || typed === undefined)
      return { problem: `${quoted(name)} is no text, number, boolean or choice` };
    const { title, description } = property;
    const about = { name, title, description, required: required.includes(name) };
    const isSecret = looksSecret([name, title, description, property.format, properties.length === 1 ? message : '']);
    fields.push({ ...about, ...(isSecret && typed.type === 'text' && { secret: true as const }), ...typed });
  }
  return { fields };
}

/** A field without its name and its words. */
type Typed = contract.QuestionField extends infer Field
  ? Field extends contract.QuestionField
    ? Omit<Field, About>
    : never
  : never;
type About = 'name' | 'title' | 'description' | 'required' | 'secret';

function typeOf(property: Property): Typed | undefined {
  const { type, minimum, maximum, items, minItems, maxItems } = property;
  if (type === 'boolean') return { type };
  if (type === 'number' || type === 'integer') return { type, minimum, maximum };
  if (type === 'array') {
    const options = items && optionsOf({ enum: items.enum, oneOf: items.anyOf ?? items.oneOf });
    return options && { type: 'choices', options, min_items: minItems, max_items: maxItems };
  }
  if (type !== 'string') return undefined;
  const options = optionsOf(property);
  if (options !== undefined) return { type: 'choice', options };
  const { minLength, maxLength, format } = property;
  return { type: 'text', min_length: minLength, max_length: maxLength, format: formats.find((one) => one === format) };
}

const formats = ['email', 'uri', 'date', 'date-time'] as const;

function optionsOf({ enum: values, enumNames, oneOf }: Pick<Property, 'enum' | 'enumNames' | 'oneOf'>) {
  if (oneOf !== undefined) return oneOf.map(({ const: value, title }) => ({ value, title }));
  return values?.map((value, at) => ({ value, title: enumNames?.[at] }));
}

const secretWords = /pass(?:word|phrase|code)|secret|credential|token|api[ _-]?key|private[ _-]?key|\bpin\b|\botp\b/i;
const looksSecret = (texts: readonly (string | undefined)[]): boolean =>
  texts.some((text) => text !== undefined && secretWords.test(text));

const quoted = (name: string): string => JSON.stringify(name.slice(0, contract.questionBounds.name));

const requestSchema = z.object({
  method: z.string(),
  params: z
    .looseObject({
      mode: z.string().default('form'),
      message: z.string().default(''),
      requestedSchema: z.unknown().optional(),
    })
    .prefault({}),
});

const next = 'Continue without the call, or do it in another way.';

/** The questions of a server about a call. @throws McpError `EMCPINPUT` for anything but values that a person can type, and beyond the bounds */
export function readQuestion(
  { inputRequests = {}, requestState: state }: InputRequiredResult,
  { server, tool, round }: { server: string; tool: string; round: number },
): contract.AskedPerson {
  const refuse = (why: string) => new McpError('EMCPINPUT', `${tool} asks before it continues, ${why}`, next);
  if (round > contract.questionBounds.rounds)
    throw refuse(`after ${contract.questionBounds.rounds} questions: it is not asked again.`);
  if (state !== undefined && Buffer.byteLength(state) > contract.questionBounds.state)
    throw refuse('and its request state has more than 64 KiB.');
  const asked = Object.entries(inputRequests);
  if (asked.length === 0) throw refuse('but has no question: it wants the same call again.');
  if (asked.length > contract.questionBounds.requests)
    throw refuse(`with more than ${contract.questionBounds.requests} questions.`);
  const question = { server, tool, requests: asked.map(([key, request]) => readRequest(key, request, refuse)) };
  const read = contract.outsideQuestionSchema.safeParse(question);
  if (!read.success) throw refuse(`in a form that is not known: ${issueText(read.error)}.`);
  return { question: read.data, state };
}

function readRequest(
  key: string,
  request: unknown,
  refuse: (why: string) => McpError,
): contract.OutsideQuestion['requests'][number] {
  if (depthOf(request) > mostLevels) throw refuse('in a form that is too deep.');
  const read = requestSchema.safeParse(request);
  if (!read.success) throw refuse(`in a form that is not known: ${issueText(read.error)}.`);
  const { method, params } = read.data;
  if (method !== 'elicitation/create') throw refuse(`for ${method.slice(0, 100)}, which servers are refused.`);
  if (params.mode === 'url') throw refuse('for a visit of an address by a person, which servers are refused.');
  if (params.mode !== 'form') throw refuse('in a way that is not known.');
  if (Buffer.byteLength(params.message) > contract.questionBounds.message)
    throw refuse('and its question has more than 8 KiB.');
  const fields = readFields(params.requestedSchema, params.message);
  if ('problem' in fields) throw refuse(`and ${fields.problem}.`);
  return { key, message: params.message, fields: fields.fields };
}

const mostLevels = 12;

function issueText({ issues: [issue] }: z.ZodError): string {
  return `${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`.trim().slice(0, 300);
}

/** What the call has besides its arguments when it is made again. */
export function againWith(answered: contract.AnsweredQuestion | undefined): {
  inputResponses?: InputResponses;
  requestState?: string;
} {
  if (answered === undefined) return {};
  const { answers, state } = answered;
  const responses = Object.entries(answers).map(([key, content]) => [key, { action: 'accept', content }] as const);
  return {
    inputResponses: Object.fromEntries(responses) as InputResponses,
    ...(state !== undefined && { requestState: state }),
  };
}
