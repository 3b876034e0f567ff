import { z } from 'zod';

/** One page of a list. `next_cursor` goes on after its last item; null on the last page. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.strictObject({ data: z.array(item), next_cursor: z.string().nullable(), has_more: z.boolean() });

export interface Page<Item> {
  data: Item[];
  next_cursor: string | null;
  has_more: boolean;
}

/** A list that is always whole. */
export const listOf = <Item extends z.ZodType>(item: Item) => z.strictObject({ data: z.array(item) });

/** @param id of the items of the list: what is none of them would be a page from nowhere */
export const cursorOf = <Id extends z.ZodType<string>>(id: Id) => id.describe('`next_cursor` of the page before');

/** Query parameters are text: an integer in decimal digits. In the document it is what it stands for. */
export const integerParameter = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, 'expected a whole number in decimal digits')
    .meta({ type: 'integer', pattern: undefined, minimum: least, maximum: most })
    .transform(Number)
    .pipe(z.int().min(least).max(most));

/** Several values of one vocabulary in a parameter, divided by commas. */
export const listParameter = <Value extends string>(item: z.ZodType<Value, Value>) =>
  z
    .string()
    .transform((text) => text.split(',') as Value[])
    .pipe(z.array(item));

/** Ids are made by the server; one of another form does not exist, which is a 404 and not an invalid request. */
export const idParamsSchema = z.strictObject({ id: z.string() });
