import { SetupError } from './error.mjs';
import { findProgram } from './find-program.mjs';

/**
 * Programs present on nearly every system and not installed by the set-up.
 *
 * @param {import('./machine.mjs').Machine} machine
 */
export function checkPrograms(machine) {
  if (machine.platform === 'win32') {
    throw new SetupError(
      'Windows has neither the sandbox nor the sockets this needs.',
      'Use WSL 2: open an Ubuntu shell, clone there, and run the command again.',
    );
  }
  if (findProgram(machine, 'git') === undefined) {
    throw new SetupError('git not found. Workspaces are git repositories.', installLine(machine, 'git'));
  }
  if (findProgram(machine, 'python3') === undefined) {
    machine.progress(`python3 not found. Commands that run Python will fail. ${installLine(machine, 'python3')}`);
  }
}

/**
 * @param {Pick<import('./machine.mjs').Machine, 'platform'>} machine
 * @param {string} name
 */
function installLine({ platform }, name) {
  if (platform === 'darwin') return `Install it: xcode-select --install (or: brew install ${name}).`;
  return `Install it: sudo apt-get install ${name} | sudo dnf install ${name} | sudo apk add ${name}.`;
}
