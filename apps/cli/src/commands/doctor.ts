import { Command } from 'commander';
import type { Finding } from '../doctor/finding.ts';
import { plain } from '../output/index.ts';
import { type Colors, exitCodes, type Shell } from '../shell/index.ts';

export const doctorCommand = (shell: Shell): Command =>
  new Command('doctor')
    .description('check this machine and the running system')
    .option('--reach <host[:port]>', 'only say whether a run could reach this host, and which setting opens it')
    .option('--json', 'one JSON object')
    .action(({ json, reach }: { json?: true; reach?: string }) => doctor(shell, { json: json === true, reach }));

async function doctor(shell: Shell, { json, reach }: { json: boolean; reach: string | undefined }): Promise<void> {
  const findings = await find(shell, reach);
  const ok = findings.every(({ level }) => level !== 'fail');
  if (!ok) shell.exitCode = exitCodes.failed;
  if (json) return shell.printJson({ ok, findings });
  const width = Math.max(...findings.map(({ name }) => name.length));
  for (const { name, level, text, next } of findings) {
    const below = `\n${' '.repeat(width + 8)}`;
    shell.print(`${markOf(level, shell.colors)}  ${name.padEnd(width)}  ${plain(text).replaceAll('\n', below)}`);
    if (next !== undefined) shell.print(`${' '.repeat(width + 8)}${shell.colors.dim(plain(next))}`);
  }
}

async function find(shell: Shell, reach: string | undefined): Promise<Finding[]> {
  // Lazy imports: only this command needs the sandbox, the guard and a Redis client.
  if (reach === undefined) return (await import('../doctor/examine.ts')).examine(shell);
  return (await import('../doctor/check-reach.ts')).checkReach(shell.config, reach);
}

function markOf(level: Finding['level'], colors: Colors): string {
  switch (level) {
    case 'ok':
      return colors.green('ok  ');
    case 'warn':
      return colors.yellow('warn');
    case 'fail':
      return colors.red('fail');
    default:
      return level satisfies never;
  }
}
