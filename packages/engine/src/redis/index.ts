export * from './connect.ts';
export * from './connect.ts';
export * from './judge-server.ts';
export * from './read-usage.ts';
export * from './trouble.ts';
