export { logIn, type Person } from './oauth/log-in.ts';
export { type LoggedOut, logOut } from './oauth/log-out.ts';
export type { Login } from './oauth/login.ts';
export type { OAuthHost } from './oauth/port.ts';
export { signedIn } from './oauth/signed-in.ts';
