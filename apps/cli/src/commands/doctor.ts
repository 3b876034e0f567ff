import { Command } from 'commander';
import type { Finding } from '../doctor/finding.ts';
import { plain } from '../output/index.ts';
import { type Colors, exitCodes, type Shell } from '../shell/index.ts';

export const doctorCommand = (shell: Shell): Command =>
  new Command('doctor')
    .description('check this machine and the running system')
    .option('--json', 'one JSON object')
    .action(({ json }: { json?: true }) => doctor(shell, json === true));

async function doctor(shell: Shell, json: boolean): Promise<void> {
  // A lazy import: only this command needs the sandbox and a Redis client.
  const { examine } = await import('../doctor/examine.ts');
  const findings = await examine(shell);
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
