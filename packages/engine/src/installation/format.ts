import { z } from 'zod';
import { dataFormat } from './migrations/migrations.ts';

/** Which format the data of one side has. `migrating_to` is set while a migration changes it. */
export const formatSchema = z.object({ data_format: z.int().min(1), migrating_to: z.int().min(1).optional() });
export type Format = z.infer<typeof formatSchema>;

export const currentFormat: Format = { data_format: dataFormat };

/** Blank when a power failure cut the first write: then nothing was ever bound to it. */
export const isBlank = (text: string): boolean => text.replaceAll('\0', '').trim() === '';
