import { z } from 'zod';
import { runIdSchema, stepIdSchema } from '../ids.ts';

export { z } from 'zod';
export * from '../agent-report.ts';
export * from '../caller.ts';
export * from '../conversation.ts';
export {
  approvalIdSchema,
  messageIdSchema,
  ruleIdSchema,
  runIdSchema,
  snapshotIdSchema,
  stepIdSchema,
  taskIdSchema,
} from '../ids.ts';
export { payloadOf, payloadSchema } from '../payload.ts';
export * from '../policy.ts';
export * from '../prepare.ts';
export * from '../publish.ts';
export * from '../task.ts';
export * from '../vocabulary.ts';
export { afterStep, problemText, seconds, short } from './words.ts';

/** A reader's program gives these words for a line. `name` and `code` show hidden characters of texts from outside. */
export interface Words {
  /** The call of the event's step, in words. `publish` for an approval without a step. */
  call: string;
  /** `1 file`, `3 files` */
  counted(count: number, noun: string): string;
  duration(ms: number): string;
  /** The name of a file, a host or a branch. */
  name(text: string): string;
  /** A command. */
  code(text: string): string;
}

/** How a line of a timeline looks. */
export type Tone = 'good' | 'bad' | 'warning' | 'faint' | 'plain';

/** Everything about an event type that readers outside of the engine share. `packages/engine/src/events` has its effects. */
interface Facts<Data extends z.ZodRawShape, Event> {
  data: Data;
  /** The description of the event in the API's documents. */
  meaning?: string;
  /** The event in a line of a timeline, after its type. Texts from outside in a line are not yet safe for a terminal. */
  line: (event: Event, words: Words) => string;
  /** @default plain */
  tone?: Tone;
  /** Left out where a person follows a run; `holdpoint logs` has the line. */
  isQuiet?: true;
}

/** An event type: its name and the shape of its `data`. Events are facts in the past tense; nothing is ever rewritten. */
const schemaOf = <Type extends string, Data extends z.ZodRawShape>(type: Type, data: Data) =>
  z.strictObject({
    id: z.string(),
    type: z.literal(type),
    run_id: runIdSchema,
    time: z.iso.datetime(),
    data: z.strictObject(data),
  });
const stepSchemaOf = <Type extends string, Data extends z.ZodRawShape>(type: Type, data: Data) =>
  schemaOf(type, data).extend({ step_id: stepIdSchema });
const approvalSchemaOf = <Type extends string, Data extends z.ZodRawShape>(type: Type, data: Data) =>
  schemaOf(type, data).extend({ step_id: stepIdSchema.optional() });

type Schema<Type extends string, Data extends z.ZodRawShape> = ReturnType<typeof schemaOf<Type, Data>>;
type StepSchema<Type extends string, Data extends z.ZodRawShape> = ReturnType<typeof stepSchemaOf<Type, Data>>;
type ApprovalSchema<Type extends string, Data extends z.ZodRawShape> = ReturnType<typeof approvalSchemaOf<Type, Data>>;

export const event = <Type extends string, Data extends z.ZodRawShape>(
  type: Type,
  { data, ...facts }: Facts<Data, z.infer<Schema<Type, Data>>>,
) => ({ ...facts, schema: described(schemaOf(type, data), facts.meaning) });

/** An event type with the step of the event. */
export const stepEvent = <Type extends string, Data extends z.ZodRawShape>(
  type: Type,
  { data, ...facts }: Facts<Data, z.infer<StepSchema<Type, Data>>>,
) => ({ ...facts, schema: described(stepSchemaOf(type, data), facts.meaning) });

/** The same for events of a step, or of the run's publish. */
export const approvalEvent = <Type extends string, Data extends z.ZodRawShape>(
  type: Type,
  { data, ...facts }: Facts<Data, z.infer<ApprovalSchema<Type, Data>>>,
) => ({ ...facts, schema: described(approvalSchemaOf(type, data), facts.meaning) });

const described = <Described extends z.ZodType>(schema: Described, meaning: string | undefined): Described =>
  meaning === undefined ? schema : schema.describe(meaning);

export const attempt = z.int().min(1);
export const epoch = z.int().min(1);
/** The tree no longer matches the log: the worker rebuilds the tree before anything else of the run starts. */
export const restore = z.literal(true).optional();
