import { secretBytes } from '@holdpoint/contract';
import { Command } from 'commander';
import { table } from '../output/index.ts';
import { type ApiOptions, apiCommand, CliError, commandLine, type Shell } from '../shell/index.ts';

export function secretsGroup(shell: Shell): Command {
  const secrets = new Command('secrets').description('secrets that runs may use, by name');
  secrets.addCommand(listSecretsCommand(shell));
  secrets.addCommand(setSecretCommand(shell));
  secrets.addCommand(removeSecretCommand(shell));
  return secrets;
}

export function listSecretsCommand(shell: Shell): Command {
  return apiCommand('list', 'list the names of secrets; no command shows a value').action(
    async ({ url, json }: ApiOptions) => {
      const data = await (await shell.connect(url)).listSecrets();
      if (json) return shell.printJson({ data });
      const rows = data.map(({ name, source, version, updated_at }) => [
        ...[name, source, version === null ? '' : String(version)],
        updated_at ?? '',
      ]);
      for (const line of table([{ text: 'NAME' }, 'WHERE', 'VERSION', 'CHANGED'], rows, shell.tableWidth))
        shell.print(line);
    },
  );
}

export function setSecretCommand(shell: Shell): Command {
  return apiCommand('set', 'set a secret; the value is standard input, without a line end at its end')
    .argument('<name>', 'a letter, then letters, digits and underscores')
    .action(async (name: string, { url, json }: ApiOptions) => {
      if (shell.interactive) {
        throw new CliError('usage', 'The value is read from standard input, which is a terminal.', {
          next: `Write it where no screen shows it: ${commandLine('secrets', 'set', name)} < FILE`,
        });
      }
      const value = (await shell.readInput()).replace(/\r?\n$/, '');
      if (value === '')
        throw new CliError('usage', `Standard input is empty; a secret has at least ${secretBytes.least} bytes.`);
      const secret = await (await shell.connect(url)).setSecret(name, { value });
      if (json) return shell.printJson(secret);
      shell.print(`${secret.name} is set (version ${secret.version})`);
    });
}

export function removeSecretCommand(shell: Shell): Command {
  return apiCommand('remove', 'remove a secret from the encrypted store')
    .argument('<name>', 'name of the secret')
    .action(async (name: string, { url, json }: ApiOptions) => {
      const secret = await (await shell.connect(url)).removeSecret(name);
      if (json) return shell.printJson(secret);
      shell.print(`${secret.name} is removed`);
    });
}
