// What there is on the admin address (SPEC section 8).
import { OPERATOR_ACTIONS, type OperatorAction } from '../pool/operator.ts';
import { type AdminAnswer, compactJson, json, plain, problem } from './admin-answer.ts';
import { type ExplainDuty, explainPage } from './explain-page.ts';

/** What the gateway does for the admin address. */
export interface AdminDuties {
  readonly upstreams: () => object;
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>;
  /** Why the gateway is not ready; null when it is. */
  readonly notReady: () => string | null;
  /** False when there is no such worker to restart. */
  readonly restartWorker: (id: number, isAbrupt: boolean) => boolean;
  readonly config: () => object;
  readonly explain: ExplainDuty;
  /** False when there is no such endpoint. */
  readonly operate: (service: string, endpoint: string, action: OperatorAction) => boolean;
  /** Takes a service out of service for a reason, or (null) puts it back; false when there is none. */
  readonly setMaintenance: (service: string, reason: string | null) => boolean;
  /** What came of it; null when the gateway has no files. Rejects when they cannot be loaded at all. */
  readonly reload: () => Promise<object | null>;
}

export interface AdminRoute {
  readonly method: 'GET' | 'POST';
  readonly path: RegExp;
  /** Whether a health checker without a token may ask. */
  readonly isOpen: boolean;
  answer(request: AdminRequest): Promise<AdminAnswer> | AdminAnswer;
}

export interface AdminRequest {
  readonly url: URL;
  /** What the groups of `path` have caught, decoded. */
  readonly parts: readonly string[];
  /** '' for none; JSON otherwise. */
  readonly body: string;
  readonly accept: string;
}

/** Longest reason for maintenance, in characters. */
const MAX_REASON = 200;

export function adminRoutes(duties: AdminDuties): readonly AdminRoute[] {
  return [...healthRoutes(duties), ...pages(duties), ...actions(duties)];
}

function healthRoutes({ notReady }: AdminDuties): AdminRoute[] {
  return [
    { method: 'GET', path: /^\/healthz$/, isOpen: true, answer: () => plain(200, 'ok\n') },
    {
      method: 'GET',
      path: /^\/readyz$/,
      isOpen: true,
      answer: () => {
        const why = notReady();
        return why === null ? plain(200, 'ready\n') : plain(503, `not ready: ${why}\n`);
      },
    },
  ];
}

function pages(duties: AdminDuties): AdminRoute[] {
  const page = (path: RegExp, answer: AdminRoute['answer']): AdminRoute => {
    return { method: 'GET', path, isOpen: false, answer };
  };
  return [
    page(/^\/debug\/upstreams$/, ({ accept }) => {
      // A program that asks for JSON reads it without indentation: a large gateway has megabytes of it.
      const answer = accept.includes('application/json') ? compactJson : json;
      return { ...answer(200, duties.upstreams()), headers: { Vary: 'Accept' } };
    }),
    page(/^\/debug\/config$/, () => json(200, duties.config())),
    page(/^\/debug\/explain$/, ({ url, accept }) => explainPage(duties.explain, url, accept)),
    page(/^\/metrics$/, async () => {
      const { contentType, text } = await duties.metrics();
      return { status: 200, type: contentType, text };
    }),
  ];
}

function actions(duties: AdminDuties): AdminRoute[] {
  const action = (path: RegExp, answer: AdminRoute['answer']): AdminRoute => {
    return { method: 'POST', path, isOpen: false, answer };
  };
  return [
    action(/^\/debug\/workers\/(\d+)\/restart$/, ({ url, parts }) => {
      const isAbrupt = url.searchParams.has('abrupt');
      if (duties.restartWorker(Number(parts[0]), isAbrupt)) return json(202, { restarting: Number(parts[0]) });
      return problem(404, 'there is no such worker, or it is being replaced already');
    }),
    action(/^\/debug\/upstreams\/([^/]+)\/([^/]+)\/([^/]+)$/, ({ parts }) => {
      const [service = '', endpoint = '', word = ''] = parts;
      const wanted = OPERATOR_ACTIONS.find((each) => each === word);
      if (wanted === undefined) return problem(404, `the actions are ${OPERATOR_ACTIONS.join(', ')}`);
      if (duties.operate(service, endpoint, wanted)) return json(200, { service, endpoint, done: wanted });
      return problem(404, 'there is no such service or endpoint');
    }),
    action(/^\/debug\/services\/([^/]+)\/degraded$/, ({ parts, body }) => {
      const [service = ''] = parts;
      const wish = readMaintenance(body);
      if (typeof wish === 'string') return problem(400, wish);
      if (duties.setMaintenance(service, wish.reason)) return json(200, { service, on: wish.reason !== null });
      return problem(404, 'there is no such service');
    }),
    action(/^\/debug\/reload$/, async () => {
      const report = await duties.reload();
      return report === null ? problem(409, 'this gateway has no files to load') : json(200, report);
    }),
  ];
}

/** Reads `{"on": true, "reason": "…"}`; the reason is null when it is off. A sentence when it is something else. */
function readMaintenance(body: string): { readonly reason: string | null } | string {
  const expected = 'the body must be {"on": true, "reason": "…"} or {"on": false}';
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return expected;
  }
  if (typeof value !== 'object' || value === null || !('on' in value) || typeof value.on !== 'boolean') return expected;
  const unknown = Object.keys(value).find((key) => key !== 'on' && key !== 'reason');
  if (unknown !== undefined) return expected;
  const reason = 'reason' in value ? value.reason : '';
  if (typeof reason !== 'string' || reason.length > MAX_REASON)
    return `the reason is text of at most ${MAX_REASON} characters`;
  return { reason: value.on ? reason : null };
}
