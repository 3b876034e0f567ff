import * as contract from '@holdpoint/contract';
import type { InputRequiredResult, InputResponses } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { depthOf } from './bounds.ts';
import { McpError } from './errors.ts';
import { readFields } from './read-fields.ts';

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
