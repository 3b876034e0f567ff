import { z } from 'zod';

/** A path as an argument. The sandbox refuses an empty one and one with a NUL byte, so that it is an `INVALID_PATH` as any other bad path. */
export const workspacePath = z.string().max(4096);
