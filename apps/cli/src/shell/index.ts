export * from './command-name.ts';
export * from './config.ts';
export * from './errors.ts';
export * from './given-file.ts';
export * from './interrupt.ts';
export * from './options.ts';
export * from './shell.ts';
