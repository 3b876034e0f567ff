import { CommanderError } from 'commander';
import { openShell } from './open-shell.ts';
import { createProgram } from './program.ts';
import { type ExitCode, exitCodes, readConfig, type Terminal } from './shell/index.ts';

/** Runs the command once. */
export async function run(input: { argv: string[]; env: NodeJS.ProcessEnv; terminal: Terminal }): Promise<ExitCode> {
  const { argv, env, terminal } = input;
  let shell: ReturnType<typeof openShell> | undefined;
  endQuietlyWithoutReader(terminal, () => shell?.outlivesTerminal === true);
  try {
    shell = openShell(readConfig(env, process.cwd()), terminal);
  } catch (error) {
    const { describeError } = await import('./report-error.ts');
    const { message, next, exitCode } = describeError(error);
    terminal.stderr.write(`error: ${message}\n${next ?? ''}\n`);
    return exitCode;
  }
  try {
    const program = await createProgram(shell, argv[0]);
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    // Commander throws with exit code 0 after help and the version, already printed.
    if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.ok;
    const { reportError } = await import('./report-error.ts');
    reportError(shell, error, argv.includes('--json'));
  } finally {
    await shell.close();
  }
  return shell.exitCode;
}

/**
 * An early end of the reader (`holdpoint logs RUN | head`) is no error, and neither is a closed terminal. The command ends, except
 * `up`: `up` first ends its processes.
 */
function endQuietlyWithoutReader({ stdout, stderr }: Terminal, outlives: () => boolean): void {
  const onError = (error: NodeJS.ErrnoException): void => {
    if (outlives()) return;
    if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error;
    process.exit(exitCodes.ok);
  };
  stdout.on('error', onError);
  stderr.on('error', onError);
}
