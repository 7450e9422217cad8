// The page /debug/explain: reads the question from the query, answers with the document or, to those who ask for text, with text.
import { quote } from '../core/quote.ts';
import { type AdminAnswer, json, plain, problem } from './admin-answer.ts';

/** A request that somebody asks about. */
export interface ExplainQuestion {
  readonly method: string;
  /** Whole, or the target alone. */
  readonly url: string;
  /** Each `name: value`. */
  readonly headers: readonly string[];
  /** null when nobody said who asks. */
  readonly client: string | null;
}

export interface ExplainedQuestion {
  readonly document: object;
  /** The same for people. */
  readonly text: string;
}

/** Explains a request without consequences; a sentence when the question makes no sense. */
export type ExplainDuty = (question: ExplainQuestion) => ExplainedQuestion | string;

const PARAMETERS: readonly string[] = ['method', 'url', 'header', 'client'];

export function explainPage(explain: ExplainDuty, { searchParams }: URL, accept: string): AdminAnswer {
  const question = readQuestion(searchParams);
  if (typeof question === 'string') return problem(400, question);
  const explained = explain(question);
  if (typeof explained === 'string') return problem(400, explained);
  return /\btext\/plain\b/i.test(accept) ? plain(200, explained.text) : json(200, explained.document);
}

function readQuestion(parameters: URLSearchParams): ExplainQuestion | string {
  const unknown = [...parameters.keys()].find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined) return `there is no parameter ${quote(unknown)}: it takes ${PARAMETERS.join(', ')}`;
  const repeated = ['method', 'url', 'client'].find((name) => parameters.getAll(name).length > 1);
  if (repeated !== undefined) return `the parameter ${repeated} may be given once only`;
  const url = parameters.get('url');
  if (url === null) return 'the parameter url is missing, as in /debug/explain?method=GET&url=http://shop.example.com/';
  return {
    method: parameters.get('method') ?? 'GET',
    url,
    headers: parameters.getAll('header'),
    client: parameters.get('client'),
  };
}
