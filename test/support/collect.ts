// The collector of V8, called by hand.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

/** Collects all that nothing holds. */
export const collect: () => void = runInNewContext('gc');
