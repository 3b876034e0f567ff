import { Command } from 'commander';
import type { Shell } from '../shell/index.ts';
import { partScript } from '../system/index.ts';

/** Runs a single part of the system: in a container, or under a supervisor like systemd. */
const foregroundCommand = (
  shell: Shell,
  { name, summary, help }: { name: 'api' | 'worker'; summary: string; help: string },
) =>
  new Command(name)
    .description(summary)
    .addHelpText('after', help)
    .action(() => execute(shell, name));

export const apiProcessCommand = (shell: Shell): Command =>
  foregroundCommand(shell, {
    name: 'api',
    summary: 'run the API in the foreground until SIGTERM or Ctrl-C',
    help: `
Settings are environment variables: HOLDPOINT_DATA, REDIS_URL (default: the embedded Redis of the data directory, which \`up\` starts),
HOLDPOINT_HOST, HOLDPOINT_PORT, … The log is JSON lines on stderr.`,
  });

export const workerProcessCommand = (shell: Shell): Command =>
  foregroundCommand(shell, {
    name: 'worker',
    summary: 'run one worker in the foreground; SIGTERM or Ctrl-C drains it',
    help: `
Settings are environment variables: HOLDPOINT_DATA, REDIS_URL (default: the embedded Redis of the data directory, which \`up\` starts),
HOLDPOINT_MODEL, HOLDPOINT_WORKER_STEPS, … All workers of one Redis share one data directory. The log is JSON lines on stdout.`,
  });

/** Replaces this process, so signals, the exit code and the terminal need no forwarding. */
function execute({ config }: Shell, app: 'api' | 'worker'): void {
  const environment = { ...config.environment, HOLDPOINT_DATA: config.dataDir };
  const script = partScript(config.projectDir, app);
  if (process.execve === undefined) throw new Error(`Run it with: node ${script}`);
  process.execve(process.execPath, [process.execPath, script], environment);
}
