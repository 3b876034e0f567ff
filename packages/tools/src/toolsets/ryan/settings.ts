import { z } from 'zod';
import { pathArgument } from '../../operations/touched.ts';

const defaultExtensions =
  '.txt .md .markdown .go .py .js .ts .jsx .tsx .c .cpp .h .hpp .cc .cxx .java .kt .scala .clj .cljs .rb .php .swift .rs .zig .sh .bash .zsh .fish .json .yaml .yml .toml .xml .html .htm .css .scss .sass .sql .csv .tsv .ini .conf .config .cfg .log .gitignore .dockerignore .env .example';

const mebibyte = 1024 * 1024;

export const ryanSettings = z.strictObject({
  timeout_ms: z
    .int()
    .min(1)
    .max(604_800_000)
    .default(30_000)
    .describe('Milliseconds after which execute_bash kills a command. The limits of the run bind as well'),
  max_output_bytes: z
    .int()
    .min(1024)
    .max(8 * mebibyte)
    .default(mebibyte)
    .describe('Bytes of the output of execute_bash that are kept: of more, the first and the last half'),
  directories: z
    .array(pathArgument)
    .min(1)
    .max(100)
    .default(['.'])
    .describe('Directories of the workspace in which commands may start and files may be read, links resolved'),
  extensions: z
    .array(z.string().min(2).max(50).startsWith('.'))
    .min(1)
    .max(500)
    .default(defaultExtensions.split(' '))
    .describe('Extensions of the files that read_file reads, in lower case, with their dot'),
  max_file_bytes: z
    .int()
    .min(1)
    .max(32 * mebibyte)
    .default(10 * mebibyte)
    .describe('read_file refuses larger files'),
  max_lines: z.int().min(1).max(1_000_000).default(10_000).describe('read_file refuses to return more lines'),
});
export type RyanSettings = z.output<typeof ryanSettings>;

/** The settings of a call, with defaults. */
export const settingsOf = (settings: unknown): RyanSettings => ryanSettings.parse(settings ?? {});
