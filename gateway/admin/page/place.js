// What somebody looks at, kept in the fragment of the address: it outlives a reload and can be sent to a colleague.

/** @typedef {{ readonly filter: string, readonly onlyTrouble: boolean, readonly open: readonly string[] }} Place */

/** @returns {Place} */
export function readPlace() {
  const values = new URLSearchParams(location.hash.slice(1));
  return {
    filter: values.get('filter') ?? '',
    onlyTrouble: values.has('trouble'),
    open: values.getAll('open'),
  };
}

/** @param {Place} place */
export function writePlace({ filter, onlyTrouble, open }) {
  const values = new URLSearchParams();
  if (filter !== '') values.set('filter', filter);
  if (onlyTrouble) values.set('trouble', '');
  for (const service of open) values.append('open', service);
  const hash = values.size === 0 ? '' : `#${values}`;
  if (hash !== location.hash) history.replaceState(null, '', `${location.pathname}${location.search}${hash}`);
}
