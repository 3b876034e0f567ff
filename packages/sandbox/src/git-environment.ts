/** Settings that no repository's configuration overrides: they keep what an earlier command wrote there from running programs. */
const pinned: readonly (readonly [string, string])[] = [
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  ['core.sshCommand', 'ssh'],
  ['core.askPass', ''],
  ['credential.helper', ''],
  ['safe.bareRepository', 'explicit'],
  ['protocol.ext.allow', 'never'],
  ['submodule.recurse', 'false'],
  ['diff.ignoreSubmodules', 'dirty'],
];

/**
 * Environment of every command, for git. What a command's own text sets overrides it.
 * @param systemConfig path of our gitconfig, as commands see it
 */
export function gitEnvironment(systemConfig: string): Record<string, string> {
  const pairs = pinned.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return {
    GIT_CONFIG_SYSTEM: systemConfig,
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_PAGER: 'cat',
    // Nothing inside has a terminal: an editor would fail, and so a rebase or a merge that offers a message.
    GIT_EDITOR: 'true',
    GIT_SEQUENCE_EDITOR: 'true',
    GIT_CONFIG_COUNT: String(pinned.length),
    ...Object.fromEntries(pairs),
  };
}
