export { type Colors, colorsFor } from './colors.ts';
export { commandLine, commandName } from './command-name.ts';
export { type Config, readConfig } from './config.ts';
export { CliError, type ExitCode, exitCodes } from './errors.ts';
export { Interrupted, interruptSignal, onInterrupt } from './interrupt.ts';
export type { Shell, Terminal } from './shell.ts';
