// The host that routes are matched by: lower case, without port and final dot.

/** The host of a Host field or an authority in the form in which routes are matched; '' stays ''. */
export function normaliseHost(field: string): string {
  let end = field.length;
  // A bracketed IPv6 literal has colons of its own; only one after the bracket begins a port.
  const colon = field.lastIndexOf(':');
  if (colon !== -1 && field.indexOf(']', colon) === -1) end = colon;
  if (end > 0 && field.charCodeAt(end - 1) === 0x2e) end--;
  return field.slice(0, end).toLowerCase();
}
