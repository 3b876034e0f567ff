import { once } from 'node:events';
import type { Client } from '@holdpoint/client';
import { plain, plainJson } from '@holdpoint/readable';
import { Command, CommanderError } from 'commander';
import manifest from '../package.json' with { type: 'json' };
import { findConnection } from './connection.ts';
import * as cli from './shell/index.ts';

/** The commands of the first level, in the order of the help. A command out of use loads nothing. */
const commands: Readonly<Record<string, (shell: cli.Shell) => Promise<Command>>> = {
  up: async (shell) => (await import('./commands/up.ts')).upCommand(shell),
  down: async (shell) => (await import('./commands/down.ts')).downCommand(shell),
  api: async (shell) => (await import('./commands/foreground.ts')).apiProcessCommand(shell),
  worker: async (shell) => (await import('./commands/foreground.ts')).workerProcessCommand(shell),
  open: async (shell) => (await import('./commands/open.ts')).openCommand(shell),
  login: async (shell) => (await import('./commands/login.ts')).loginCommand(shell),
  logout: async (shell) => (await import('./commands/login.ts')).logoutCommand(shell),
  doctor: async (shell) => (await import('./commands/doctor.ts')).doctorCommand(shell),
  adopt: async (shell) => (await import('./commands/installation.ts')).adoptCommand(shell),
  migrate: async (shell) => (await import('./commands/installation.ts')).migrateCommand(shell),
  run: async (shell) => (await import('./commands/run/run.ts')).runCommand(shell),
  calls: async (shell) => (await import('./commands/runs/calls.ts')).sendCallsCommand(shell),
  finish: async (shell) => (await import('./commands/runs/calls.ts')).finishRunCommand(shell),
  watch: async (shell) => (await import('./commands/watch.ts')).watchCommand(shell),
  logs: async (shell) => (await import('./commands/watch.ts')).logsCommand(shell),
  'log-level': async (shell) => (await import('./commands/log-level.ts')).logLevelCommand(shell),
  trace: async (shell) => (await import('./commands/trace.ts')).traceCommand(shell),
  top: async (shell) => (await import('./commands/top.ts')).topCommand(shell),
  runs: async (shell) => (await import('./commands/runs/group.ts')).runsGroup(shell),
  steps: async (shell) => (await import('./commands/steps/group.ts')).stepsGroup(shell),
  schedules: async (shell) => (await import('./commands/schedules/group.ts')).schedulesGroup(shell),
  eval: async (shell) => (await import('./commands/eval/group.ts')).evalGroup(shell),
  webhooks: async (shell) => (await import('./commands/webhooks/group.ts')).webhooksGroup(shell),
  tasks: async (shell) => (await import('./commands/tasks.ts')).tasksGroup(shell),
  approvals: async (shell) => (await import('./commands/approvals/group.ts')).approvalsGroup(shell),
  rules: async (shell) => (await import('./commands/rules.ts')).rulesGroup(shell),
  secrets: async (shell) => (await import('./commands/secrets.ts')).secretsGroup(shell),
  keys: async (shell) => (await import('./commands/keys.ts')).keysGroup(shell),
  sessions: async (shell) => (await import('./commands/sessions.ts')).sessionsGroup(shell),
  passkeys: async (shell) => (await import('./commands/passkeys.ts')).passkeysGroup(shell),
  quotas: async (shell) => (await import('./commands/quotas.ts')).quotasGroup(shell),
  policy: async (shell) => (await import('./commands/policy/group.ts')).policyGroup(shell),
  audit: async (shell) => (await import('./commands/audit.ts')).auditGroup(shell),
  tools: async (shell) => (await import('./commands/tools/group.ts')).toolsGroup(shell),
  mcp: async (shell) => (await import('./commands/mcp/group.ts')).mcpGroup(shell),
  completion: async (shell) => (await import('./commands/completion.ts')).completionCommand(shell),
};

const exitCodeHelp = `
Exit codes: 0 ok, 1 failed, 2 usage, 3 canceled or expired, 4 not authorized, 5 waiting for a decision, 6 timeout, 7 not found,
8 conflict, 130 interrupted.`;

/** @param first the first word of the command line: with the name of a command, the program has this command alone */
export async function createProgram(shell: cli.Shell, first: string | undefined): Promise<Command> {
  const program = new Command(cli.commandName)
    .description(
      'Durable agent runs: every tool call is a job, risky calls wait for a person, changes are reviewed before they are published.',
    )
    .version(manifest.version, '-V, --version', 'print the version')
    .addHelpText('after', exitCodeHelp);
  program.hook('preAction', async (_program, command) => {
    const { completeIds } = await import('./naming/ids.ts');
    await completeIds(shell, command);
  });
  for (const command of await openCommands(shell, first)) program.addCommand(command);
  if (first === '__complete') {
    const { completeCommand } = await import('./commands/completion.ts');
    program.addCommand(completeCommand(shell), { hidden: true });
  }
  configure(program, shell);
  return program;
}

/** All commands for help, for completion, and for the advice about an unknown word. */
async function openCommands(shell: cli.Shell, first: string | undefined): Promise<Command[]> {
  if (first === '--version' || first === '-V') return [];
  const asked = first !== undefined && Object.hasOwn(commands, first) ? commands[first] : undefined;
  const open = asked === undefined ? Object.values(commands) : [asked];
  return Promise.all(open.map((one) => one(shell)));
}

/** Commander throws instead of ending the process, and an option belongs to the command in front. */
function configure(command: Command, shell: cli.Shell): void {
  command.exitOverride().enablePositionalOptions().showHelpAfterError('(add --help for its usage)');
  command.configureOutput({ writeOut: (text) => shell.write(text), writeErr: (text) => shell.say(text.trimEnd()) });
  for (const child of command.commands) configure(child, shell);
}

/** Runs the command once. */
export async function run(input: {
  argv: string[];
  env: NodeJS.ProcessEnv;
  terminal: cli.Terminal;
}): Promise<cli.ExitCode> {
  const { argv, env, terminal } = input;
  let shell: ReturnType<typeof openShell> | undefined;
  endQuietlyWithoutReader(terminal, () => shell?.outlivesTerminal === true);
  try {
    shell = openShell(cli.readConfig(env, process.cwd()), terminal);
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
    if (error instanceof CommanderError && error.exitCode === 0) return cli.exitCodes.ok;
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
function endQuietlyWithoutReader({ stdout, stderr }: cli.Terminal, outlives: () => boolean): void {
  const onError = (error: NodeJS.ErrnoException): void => {
    if (outlives()) return;
    if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error;
    process.exit(cli.exitCodes.ok);
  };
  stdout.on('error', onError);
  stderr.on('error', onError);
}

export function openShell(config: cli.Config, terminal: cli.Terminal): cli.Shell {
  const { stdout, stderr, stdin } = terminal;
  const clients: Client[] = [];
  let outlives = false;
  // A terminal of unknown size reports 0.
  const width = stdout.columns || (stdout.isTTY === true ? 80 : 240);
  const say = (text: string): void => void stderr.write(`${text}\n`);
  return {
    config,
    interactive: stdin.isTTY === true && stdout.isTTY === true,
    stdoutIsTerminal: stdout.isTTY === true,
    redraws: stdout.isTTY === true && config.environment.TERM !== 'dumb',
    width,
    tableWidth: stdout.isTTY === true ? width : undefined,
    colors: cli.colorsFor(config.color ?? stdout.isTTY === true),
    errColors: cli.colorsFor(config.color ?? stderr.isTTY === true),
    write: (text) => stdout.write(text),
    async pipe(bytes) {
      const decoder = stdout.isTTY === true ? new TextDecoder() : undefined;
      for await (const chunk of bytes) {
        const fits = stdout.write(decoder ? plain(decoder.decode(chunk, { stream: true })) : chunk);
        if (!fits) await once(stdout, 'drain');
      }
      if (decoder) stdout.write(plain(decoder.decode()));
    },
    print: (text) => stdout.write(`${text}\n`),
    printJson: (value) => stdout.write(`${plainJson(value)}\n`),
    say,
    outliveTerminal() {
      outlives = true;
    },
    get outlivesTerminal() {
      return outlives;
    },
    async readInput() {
      let text = '';
      if (stdin.isTTY) say('Type it here, then press Ctrl-D on an empty line.');
      stdin.setEncoding('utf8');
      for await (const chunk of stdin) text += chunk;
      return text;
    },
    exitCode: cli.exitCodes.ok,
    async connect(url, key) {
      const connection = findConnection(key === undefined ? config : { ...config, key }, url);
      // A lazy import: commands without a server start faster.
      const { createClient } = await import('@holdpoint/client');
      const client = createClient({ baseUrl: connection.url, key: connection.key });
      clients.push(client);
      return client;
    },
    async close() {
      await Promise.all(clients.map((client) => client.close()));
    },
  };
}
