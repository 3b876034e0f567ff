import * as contract from '@holdpoint/contract';
import { z } from 'zod';
import { msOf } from '../iso-time.ts';

/** The written form of a value: unchanged text, a decimal integer, JSON text, or a time as its milliseconds since the epoch. */
type Encoding = 'text' | 'integer' | 'json' | 'time';

/** A line of a table of fields. `schema` reads the stored text; an empty field is the same as an absent field. */
export interface Field<Schema extends z.ZodType = z.ZodType> {
  encoding: Encoding;
  meaning: string;
  schema: Schema;
}

type Table = Readonly<Record<string, Field>>;
type ValueOf<Line extends Field> = NonNullable<z.output<Line['schema']>>;

const field = <Schema extends z.ZodType>(encoding: Encoding, schema: Schema, meaning: string): Field<Schema> => ({
  encoding,
  meaning,
  schema,
});

export const text = <Schema extends z.ZodType>(schema: Schema, meaning: string) => field('text', schema, meaning);

const wholeNumber = z.coerce.number().int();
/** 0 when absent. */
export const integer = (meaning: string) => field('integer', wholeNumber.default(0), meaning);
export const optionalInteger = (meaning: string) => field('integer', wholeNumber.optional(), meaning);

const parsed = z.string().transform((stored): unknown => JSON.parse(stored));
export const json = <Schema extends z.ZodType>(schema: Schema, meaning: string) =>
  field('json', parsed.pipe(schema), meaning);

const timestamp = z
  .string()
  .transform((stored) => (/^\d+$/.test(stored) ? new Date(Number(stored)).toISOString() : stored));
export const time = (meaning: string) => field('time', timestamp, meaning);

export const optional = <Schema extends z.ZodType>(line: Field<Schema>): Field<z.ZodOptional<Schema>> => ({
  ...line,
  schema: line.schema.optional(),
});

/** Parses the stored fields of a run, step, approval or task. */
export const schemaOf = <Fields extends Table>(table: Fields) =>
  z.object(Object.fromEntries(Object.entries(table).map(([name, { schema }]) => [name, schema]))) as z.ZodObject<{
    [Name in keyof Fields]: Fields[Name]['schema'];
  }>;

/** A place in the state hash of a run, and how its value is written there. */
export interface Cell<Value> {
  name: string;
  encode: (value: Value) => string;
  /** The encoded value of an absent field. */
  absent: string;
}

export function cell<Line extends Field>(name: string, { encoding, schema }: Line): Cell<ValueOf<Line>> {
  const encode = encoders[encoding];
  const fallback = schema.safeParse(undefined).data;
  return { name, encode, absent: fallback === undefined ? '' : encode(fallback) };
}

const encoders: Record<Encoding, (value: unknown) => string> = {
  text: String,
  integer: String,
  json: JSON.stringify,
  // A time with other digits than milliseconds stays unchanged.
  time: (value) => {
    const ms = msOf(String(value)) ?? -1;
    return ms >= 0 ? String(ms) : String(value);
  },
};

/** The cells of a table with a single row: `runField.status`. */
export const cellsOf = <Fields extends Table>(table: Fields) =>
  Object.fromEntries(Object.entries(table).map(([name, field]): [string, unknown] => [name, cell(name, field)])) as {
    [Name in keyof Fields]: Cell<ValueOf<Fields[Name]>>;
  };

/** The cells of a table with a row per id: `stepField.status(stepId)`. */
export const cellsById = <Fields extends Table>(table: Fields) =>
  Object.fromEntries(
    Object.entries(cellsOf(table)).map(([name, column]) => [
      name,
      (id: string) => ({ ...column, name: nameOf(id, name) }),
    ]),
  ) as { [Name in keyof Fields]: (id: string) => Cell<ValueOf<Fields[Name]>> };

export const nameOf = (id: string, field: string): string => `${id}:${field}`;

/** The fields of an approval, named `<approval id>:<field>`. */
export const approvalTable = {
  status: text(contract.approvalStatusSchema, 'Status of the approval.'),
  request: json(
    contract.approvalRequestSchema.extend({ step_id: contract.stepIdSchema.optional(), requested_at: z.string() }),
    'What is asked. Without a step: about the publish of the run.',
  ),
  superseded: optional(text(z.string(), 'The approval that asks again because the files had changed.')),
  decision: optional(json(contract.decisionSchema.extend({ decided_at: z.string() }), 'The decision of a person.')),
  votes: optional(json(z.array(contract.voteSchema), 'Who has approved, where several have to.')),
  delegations: optional(json(z.array(contract.delegationSchema), 'Callers who let another caller decide.')),
  reminded: integer('How often the approval was brought to mind.'),
  previewing: optional(
    json(
      z.strictObject({ by: z.string(), at: z.string() }),
      'Who asked for the result of the call, while no worker has answered.',
    ),
  ),
  preview_failed: optional(
    json(z.strictObject({ reason: contract.problemSchema, at: z.string() }), 'Why there is no result to show.'),
  ),
  escalated: optional(json(z.array(z.string()), 'Globs on names of callers who may decide since the escalation.')),
};

export const approvalField = cellsById(approvalTable);

/** The fields of a remembered rule, named `<rule id>:<field>`, in the run of the approval behind the rule. */
export const ruleTable = {
  status: text(z.enum(['made', 'revoked']), 'Status of the rule; its expiry is in `made`.'),
  made: json(
    contract.rememberedRuleSchema.extend({ approval_id: z.string(), made_at: z.string() }),
    'Which calls the rule lets through, and until when.',
  ),
  revoked_by: optional(text(z.string(), 'Who revoked the rule.')),
};

export const ruleField = cellsById(ruleTable);
