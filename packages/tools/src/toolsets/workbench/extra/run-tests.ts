import { z } from 'zod';
import { failure } from '../../../operations/cut-short.ts';
import { builtInTool } from '../../built-in-tool.ts';
import { firstWithMark } from './find-program.ts';
import { type Argv, outputOf, runProgram } from './run-program.ts';

/** The test commands of a project, by a file of the project. */
const runners: readonly { marks: readonly string[]; argv: Argv }[] = [
  { marks: ['package.json'], argv: ['npm', 'test', '--silent'] },
  { marks: ['go.mod'], argv: ['go', 'test', './...'] },
  { marks: ['Cargo.toml'], argv: ['cargo', 'test', '--quiet'] },
  { marks: ['pyproject.toml', 'setup.py', 'pytest.ini'], argv: ['python3', '-m', 'pytest', '-q'] },
  { marks: ['Makefile'], argv: ['make', 'test'] },
];

export const runTests = builtInTool({
  name: 'run_tests',
  description:
    'Runs the tests of the project in the workspace: npm, go, cargo, pytest or make, by the files that it has. Returns {command, passed, exitCode, stdout, stderr, truncated}; tests that fail are a result, not an error.',
  effect: (_args, { network }) => (network ? 'external' : 'workspace'),
  risk: 'high',
  label: 'dangerous',
  version: '1.0.0',
  input: z.strictObject({ timeout: z.int().min(1).max(600).default(300).describe('Seconds') }),
  async execute(context, { timeout }) {
    const runner = await firstWithMark(context, runners);
    if (runner === undefined) {
      const marks = runners.flatMap(({ marks }) => marks).join(', ');
      return failure('ENOTESTS', `There is none of ${marks}.`, 'Run the tests with run_code.');
    }
    const ran = await runProgram(context, runner.argv, { wallMs: timeout * 1000 });
    const command = runner.argv.join(' ');
    if (ran.ok) {
      const { capabilities } = ran.result;
      return { status: 'succeeded', value: { command, passed: true, ...outputOf(ran.result) }, capabilities };
    }
    const { outcome } = ran;
    if (outcome.status !== 'failed' || outcome.error.code !== 'EEXIT') return outcome;
    const value = { command, passed: false, ...(outcome.value as ReturnType<typeof outputOf>) };
    return { status: 'succeeded', value, capabilities: outcome.capabilities };
  },
});
