import { z } from 'zod';
import { dataFormat } from './migrations/migrations.ts';

/** The format of the data of a side. `migrating_to` is set while a migration changes the data. */
export const formatSchema = z.object({ data_format: z.int().min(1), migrating_to: z.int().min(1).optional() });
export type Format = z.infer<typeof formatSchema>;

export const currentFormat: Format = { data_format: dataFormat };

/** Blank when a power failure cut the first write: then no installation was ever bound to the side. */
export const isBlank = (text: string): boolean => text.replaceAll('\0', '').trim() === '';
