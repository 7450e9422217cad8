// The forms of answers on the admin address.

export interface AdminAnswer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export function plain(status: number, text: string): AdminAnswer {
  return { status, type: 'text/plain; charset=utf-8', text };
}

export function json(status: number, value: object): AdminAnswer {
  return { status, type: 'application/json', text: `${JSON.stringify(value, null, 2)}\n` };
}

export function compactJson(status: number, value: object): AdminAnswer {
  return { status, type: 'application/json', text: JSON.stringify(value) };
}

export function problem(status: number, detail: string): AdminAnswer {
  return { ...json(status, { type: 'about:blank', status, detail }), type: 'application/problem+json' };
}
