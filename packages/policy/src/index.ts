export * from './command/command-class.ts';
