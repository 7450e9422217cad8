// How many branches the split of a route may have: shared memory has so many turns for each route.

export const MAX_BRANCHES = 15;
