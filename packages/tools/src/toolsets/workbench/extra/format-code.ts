import { z } from 'zod';
import { failure } from '../../../operations/cut-short.ts';
import { pathArgument, touchedPaths } from '../../../operations/touched.ts';
import { builtInTool } from '../../built-in-tool.ts';
import { firstWithMark } from './find-program.ts';
import { outputOf, runProgram } from './run-program.ts';

/** Formatters by a file of the project. Programs of the project come before programs of the system. */
const formatters = [
  { marks: ['node_modules/.bin/biome'], argv: ['node_modules/.bin/biome', 'format', '--write', '--'] },
  { marks: ['node_modules/.bin/prettier'], argv: ['node_modules/.bin/prettier', '--write', '--'] },
  { marks: ['go.mod'], argv: ['gofmt', '-w', '--'] },
  { marks: ['Cargo.toml'], argv: ['rustfmt', '--'] },
  { marks: ['pyproject.toml', 'setup.py'], argv: ['python3', '-m', 'black', '--quiet', '--'] },
] as const;

const input = z.strictObject({
  paths: z.array(pathArgument).min(1).max(500).describe('Files to format'),
});

export const formatCode = builtInTool({
  name: 'format_code',
  description:
    'Formats files with the formatter of the project: biome, prettier, gofmt, rustfmt or black. Returns {command, exitCode, stdout, stderr, truncated}.',
  effect: 'workspace',
  risk: 'medium',
  label: 'safe_write',
  version: '1.0.0',
  input,
  touches: ({ paths }) => touchedPaths('write', ...paths),
  async execute(context, { paths }) {
    for (const path of paths) await context.files.stat(path, {}, context.signal);
    const formatter = await firstWithMark(context, formatters);
    if (formatter === undefined) {
      return failure('ENOFORMATTER', 'The project has no formatter that this tool knows.', 'Run one with run_code.');
    }
    const ran = await runProgram(context, [...formatter.argv, ...paths]);
    if (!ran.ok) return ran.outcome;
    const { capabilities } = ran.result;
    const value = { command: formatter.argv.slice(0, -1).join(' '), ...outputOf(ran.result) };
    return { status: 'succeeded', value, capabilities };
  },
});
