import { describe, expect, it } from 'vitest';
import { type ExplainQuestion, explainPage } from '../../../gateway/admin/explain-page.ts';

function ask(query: string, accept = '*/*') {
  const asked: ExplainQuestion[] = [];
  const explain = (question: ExplainQuestion) => {
    asked.push(question);
    return question.method === 'BAD' ? 'it makes no sense' : { document: { told: question.url }, text: 'told\n' };
  };
  return { answer: explainPage(explain, new URL(`http://admin/debug/explain${query}`), accept), asked };
}

describe('/debug/explain', () => {
  it('asks for what the query says', () => {
    const { asked } = ask('?method=PUT&url=http%3A%2F%2Fa%2F%3Fx%3D1&header=x-a:%201&header=x-b:2&client=10.0.0.1');
    expect(asked).toEqual([{ method: 'PUT', url: 'http://a/?x=1', headers: ['x-a: 1', 'x-b:2'], client: '10.0.0.1' }]);
  });

  it('asks for a GET of nobody in particular unless told otherwise', () => {
    expect(ask('?url=/x').asked).toEqual([{ method: 'GET', url: '/x', headers: [], client: null }]);
  });

  it.each(['*/*', 'application/json', 'text/html, */*;q=0.1'])('answers %s with the document', (accept) => {
    const { answer } = ask('?url=/x', accept);
    expect([answer.status, answer.type, JSON.parse(answer.text)]).toEqual([200, 'application/json', { told: '/x' }]);
  });

  it('answers those who want text with text', () => {
    const { status, type, text } = ask('?url=/x', 'text/plain').answer;
    expect([status, type, text]).toEqual([200, 'text/plain; charset=utf-8', 'told\n']);
  });

  it.each([
    ['', 'the parameter url is missing, as in /debug/explain?method=GET&url=http://shop.example.com/'],
    ['?url=/x&headers=a', 'there is no parameter "headers": it takes method, url, header, client'],
    ['?url=/x&url=/y', 'the parameter url may be given once only'],
    ['?url=/x&method=GET&method=PUT', 'the parameter method may be given once only'],
    ['?url=/x&method=BAD', 'it makes no sense'],
  ])('refuses %j and says what is wrong', (query, detail) => {
    const { status, type, text } = ask(query).answer;
    expect([status, type]).toEqual([400, 'application/problem+json']);
    expect(JSON.parse(text)).toMatchObject({ detail });
  });
});
