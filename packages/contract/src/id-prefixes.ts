/** The prefix of each kind of id, before an underscore and a UUIDv7. */
export const idPrefixes = {
  run: 'run',
  step: 'step',
  approval: 'apr',
  rule: 'rule',
  task: 'task',
  message: 'msg',
  event: 'evt',
  key: 'key',
} as const;
