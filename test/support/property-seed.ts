// Property tests draw the same examples in every run; PROPERTY_SEED=random (or a number) explores others.
import fc from 'fast-check';

const wanted = process.env.PROPERTY_SEED ?? '20261129';

if (wanted !== 'random') fc.configureGlobal({ seed: Number(wanted) });
