export { commandLine, commandName } from './command-name.ts';
export { type Config, readConfig } from './config.ts';
export { CliError, type ExitCode, exitCodes } from './errors.ts';
export { readGivenFile, readText } from './given-file.ts';
export { Interrupted, interruptSignal, onInterrupt } from './interrupt.ts';
export {
  type ApiOptions,
  apiCommand,
  count,
  type FollowOptions,
  jsonObject,
  label,
  seconds,
  several,
  sinceOf,
  wholeNumber,
  withFollowOptions,
} from './options.ts';
export { type Colors, colorsFor, type Shell, type Terminal } from './shell.ts';
