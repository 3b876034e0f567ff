import { resolvePath } from './list-paths.ts';
import { readOptions } from './read-options.ts';
import type { SimpleCommand } from './simple-command.ts';
import { eitherDirectory, type Walk } from './walk.ts';

/** After `cd` the next command may run in the new directory or, when `cd` failed, in the old directory. */
export function changeDirectory(walk: Walk, { program, argv }: SimpleCommand): void {
  if (program === 'pushd' || program === 'popd') walk.directories = [undefined];
  if (program !== 'cd') return;
  const { operands } = readOptions(argv.slice(1));
  const home = { value: '~', pattern: true, home: true };
  const target = operands[0] ?? home;
  const isKnown = operands.length < 2 && target.value !== '-' && !walk.functions.has('cd');
  const next = isKnown ? resolvePath(target, walk).map(({ path, known }) => (known ? path : undefined)) : [undefined];
  walk.entered = next;
  walk.directories = eitherDirectory(walk.directories, next);
}
