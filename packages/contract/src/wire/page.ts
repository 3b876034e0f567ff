import { z } from 'zod';

/** A list entry with unreadable stored data, named in place of its content. */
export const damagedSchema = z
  .strictObject({ id: z.string(), code: z.string(), detail: z.string(), next: z.string() })
  .meta({ id: 'Damaged' });
export type DamagedEntry = z.infer<typeof damagedSchema>;

export const damagedListSchema = z
  .array(damagedSchema)
  .optional()
  .describe('Entries that cannot be shown, because what is stored of them cannot be read; absent: none');

/** One page of a list. `next_cursor` is the cursor of the next page; null on the last page. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.strictObject({
    data: z.array(item),
    next_cursor: z.string().nullable(),
    has_more: z.boolean(),
    damaged: damagedListSchema,
  });

export interface Page<Item> {
  data: Item[];
  next_cursor: string | null;
  has_more: boolean;
  damaged?: DamagedEntry[] | undefined;
}

/** A list without pages. */
export const listOf = <Item extends z.ZodType>(item: Item) =>
  z.strictObject({ data: z.array(item), damaged: damagedListSchema });

/** @param id schema of the ids of the items: a cursor is the id of an item */
export const cursorOf = <Id extends z.ZodType<string>>(id: Id) => id.describe('`next_cursor` of the previous page');

/** Query parameters are text: an integer in decimal digits. The OpenAPI document shows the integer. */
export const integerParameter = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, 'expected a whole number in decimal digits')
    .meta({ type: 'integer', pattern: undefined, minimum: least, maximum: most })
    .transform(Number)
    .pipe(z.int().min(least).max(most));

/** Several values of the same vocabulary in a parameter, separated by commas. */
export const listParameter = <Value extends string>(item: z.ZodEnum<{ [Name in Value]: Name }>) =>
  z
    .string()
    .meta({ type: 'array', items: { type: 'string', enum: item.options } })
    .transform((text) => text.split(',') as Value[])
    .pipe(z.array(item));

/** The server creates ids. An id of another form does not exist: a 404, not an invalid request. */
export const idParamsSchema = z.strictObject({ id: z.string() });
