export * from './command/classify-command.ts';
export * from './command/command-class.ts';
export * from './command/list-deletions.ts';
export * from './command/parse-command.ts';
export * from './command/simple-command.ts';
export * from './command/table/command-table.ts';
export * from './command/table/default-table.ts';
