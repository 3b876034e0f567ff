import { Readable } from 'node:stream';
import { z } from 'zod';

/** An answer whose body is bytes, streamed as they are. */
export const binarySchema = z.instanceof(Readable).meta({ type: 'string', format: 'binary' });
