export { fromPlain, isDotGit } from '../files/path-name.ts';
