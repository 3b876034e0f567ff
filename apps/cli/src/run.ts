import { readConfig } from './config.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { createProgram } from './program.ts';
import { reportError, tell } from './report-error.ts';
import { openShell, type Terminal } from './shell.ts';

/** One call of the command, from its words to its exit code. */
export async function run(input: { argv: string[]; env: NodeJS.ProcessEnv; terminal: Terminal }): Promise<ExitCode> {
  const { argv, env, terminal } = input;
  endQuietlyWithoutReader(terminal);
  let shell: ReturnType<typeof openShell>;
  try {
    shell = openShell(readConfig(env, process.cwd()), terminal);
  } catch (error) {
    const { message, next, exitCode } = tell(error);
    terminal.stderr.write(`error: ${message}\n${next ?? ''}\n`);
    return exitCode;
  }
  try {
    await createProgram(shell).parseAsync(argv, { from: 'user' });
  } catch (error) {
    reportError(shell, error, argv.includes('--json'));
  } finally {
    await shell.close();
  }
  return shell.exitCode;
}

/** `holdpoint logs RUN | head`: who has read enough is no error. */
function endQuietlyWithoutReader({ stdout }: Terminal): void {
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(exitCodes.ok);
  });
}
