export * from './looks.ts';
export * from './making-folder.ts';
export * from './prepared-mark.ts';
export * from './run-folder.ts';
export * from './serial.ts';
export * from './tree-head.ts';
export * from './workspace-record.ts';
