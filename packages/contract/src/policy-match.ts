import { z } from 'zod';
import { callerKindSchema } from './caller.ts';
import { effectSchema, riskSchema } from './vocabulary.ts';

const maxNames = 200;
const globSchema = z.string().min(1).max(500);
const globsSchema = z.array(globSchema).min(1).max(maxNames);
const oneOrMany = <Item extends z.ZodType>(item: Item) => z.union([item, z.array(item).min(1).max(maxNames)]);

export const commandClasses = ['safe', 'caution', 'blocked'] as const;
/** How risky a command is. `safe` only reads, `blocked` is catastrophic, `caution` is everything else. */
export type CommandClass = (typeof commandClasses)[number];

export const pathAccesses = ['read', 'write', 'delete'] as const;
export type PathAccess = (typeof pathAccesses)[number];

const regexSchema = z
  .string()
  .min(1)
  .max(500)
  .describe(
    'A regular expression of RE2, found anywhere in the text. It runs in linear time: no look-around, no back-references',
  );

const scalarSchema = z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(z.json())]);
/** The condition on an argument. A text, a number, a boolean, null or a list is its own condition: the argument must equal the value. */
export const argumentTestSchema = z
  .union([
    scalarSchema,
    z.strictObject({ equals: z.json() }),
    z.strictObject({ glob: globSchema }),
    z.strictObject({ regex: regexSchema }),
  ])
  .describe(
    'The exact JSON value, or {equals}, {glob} or {regex} on the text of the value; other JSON is read as canonical JSON',
  );
export type ArgumentTest = z.infer<typeof argumentTestSchema>;

const pathsSchema = z.union([
  globsSchema,
  z.strictObject({
    globs: globsSchema,
    access: oneOrMany(z.enum(pathAccesses)).optional().describe('Without it: any access'),
  }),
]);

const commandSchema = z
  .strictObject({
    class: oneOrMany(z.enum([...commandClasses, 'unparsed'])).describe(
      '`unparsed`: a command line that the shell parser cannot read',
    ),
    program: oneOrMany(globSchema).describe('The name of the program'),
    argv: globsSchema.describe('One glob per word, the program first. `*`: any one word; `**`: any number of words'),
    regex: regexSchema.describe('On the words of the command, joined by a space'),
  })
  .partial();

const submitterSchema = z.strictObject({ name: oneOrMany(globSchema), kind: oneOrMany(callerKindSchema) }).partial();

/** The calls of a rule. Every field must hold; an empty match applies to every call. */
export const matchSchema = z.strictObject({
  toolset: oneOrMany(globSchema).optional(),
  tool: oneOrMany(globSchema).optional(),
  effect: oneOrMany(effectSchema).optional(),
  risk: oneOrMany(riskSchema).optional(),
  args: z
    .record(z.string().max(500), argumentTestSchema)
    .refine((args) => Object.keys(args).length <= 50, 'at most 50 arguments')
    .optional()
    .describe('By JSON pointer into the arguments as the caller wrote them; "" is all of them'),
  paths: pathsSchema.optional().describe('Globs on paths of the workspace. `*` stays within a folder, `**` does not'),
  command: commandSchema.optional().describe('A simple command of a command line'),
  hosts: globsSchema
    .optional()
    .describe('`host`, `host:port`, `*.host:port`, or `*` for any. Without a port: 80 and 443'),
  labels: z.record(z.string().min(1).max(63), globSchema).optional().describe('Globs on labels of the run'),
  submitted_by: submitterSchema.optional(),
});
export type PolicyMatch = z.infer<typeof matchSchema>;
