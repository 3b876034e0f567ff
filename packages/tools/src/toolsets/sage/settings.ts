import { z } from 'zod';

const mebibyte = 1024 * 1024;

const program = z
  .string()
  .max(300)
  .regex(/^[A-Za-z0-9_.+/-]+$/, 'expected the name of a program, without arguments')
  .describe('A program as commands write it: `git`, `./build.sh`');

/** The contract's own list. */
const defaultPrograms = 'git node npm npx tsc python3 ls cat grep echo true false pwd env'.split(' ');

const limits = z.strictObject({
  timeoutMs: z
    .int()
    .min(1)
    .max(604_800_000)
    .default(120_000)
    .describe('Milliseconds that a Bash or a GraphQuery takes'),
  toolTimeoutMs: z
    .strictObject({
      Bash: z.int().min(1).max(604_800_000).optional(),
      GraphQuery: z.int().min(1).max(604_800_000).optional(),
    })
    .default({})
    .describe('Milliseconds for one of these tools, in place of timeoutMs'),
  maxOutputBytes: z
    .int()
    .min(1)
    .max(32 * mebibyte)
    .default(mebibyte)
    .describe(
      'Bytes that a command may print, or that the answer of the graph may have. A command is killed above them',
    ),
  maxFileBytes: z
    .int()
    .min(1)
    .max(32 * mebibyte)
    .default(10 * mebibyte)
    .describe('Bytes of the largest file that Read, Write and Edit take'),
  maxCommandFileBytes: z
    .int()
    .min(1)
    .max(1024 ** 4)
    .default(1024 ** 3)
    .describe('Bytes of the largest file that a command may write'),
  cpuSeconds: z.int().min(1).max(1_000_000).default(120).describe('CPU seconds of one process of a command'),
});

/** The settings of the toolset in a run. */
export const sageSettings = z.strictObject({
  env: z
    .record(
      z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'expected letters, digits and `_`'),
      z
        .string()
        .max(30_000)
        .refine((text) => !text.includes('\0'), 'expected no NUL byte'),
    )
    .default({})
    .describe('Variables of commands, beside PATH, HOME, LANG and TMPDIR'),
  bash_allowlist: z
    .array(program)
    .max(200)
    .default(defaultPrograms)
    .describe('Programs that Bash may start, each part of a line included. `env` means env without arguments'),
  deterministic_commands: z
    .array(program)
    .max(200)
    .default([])
    .describe('Those of bash_allowlist that a deterministic run may start: their output depends on their input alone'),
  limits: limits.prefault({}),
});
export type SageSettings = z.output<typeof sageSettings>;

/** The settings of a call, with defaults. */
export const settingsOf = (settings: unknown): SageSettings => sageSettings.parse(settings ?? {});

/** Milliseconds permitted to a call of the tool. */
export const timeoutOf = (
  { limits: { timeoutMs, toolTimeoutMs } }: SageSettings,
  tool: 'Bash' | 'GraphQuery',
): number => toolTimeoutMs[tool] ?? timeoutMs;
