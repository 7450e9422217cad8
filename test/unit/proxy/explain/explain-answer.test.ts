// What an explanation says of the answer's way back.
import { describe, expect, it } from 'vitest';
import { explanationText } from '../../../../gateway/proxy/explain/explanation-text.ts';
import { endpoint } from '../../../support/endpoints.ts';
import { ExplainScene } from './explain-scene.ts';

function sceneOf(route: object): ExplainScene {
  return new ExplainScene({ routes: { r: { service: 's', ...route } }, pools: { s: [endpoint(1)] } });
}

describe('the answer', () => {
  it('is not spoken of where the route does nothing to it', () => {
    const explanation = sceneOf({}).explain();
    expect(explanation.answer).toBeNull();
    expect(explanationText(explanation)).not.toMatch(/^answer/m);
  });

  it.each([
    ['gzip, br', 'br', 'compressed with br, where there is something to gain'],
    ['deflate', null, 'not compressed: the client accepts none of br, gzip, or likes it better so'],
  ])('to a client that accepts %s is compressed with %s', (accept, coding, line) => {
    const explanation = sceneOf({ compress: ['br', 'gzip'] }).explain({ headers: [`Accept-Encoding: ${accept}`] });
    expect(explanation.answer).toEqual({ compression: { offered: ['br', 'gzip'], coding }, adds: [], removes: [] });
    expect(explanationText(explanation)).toContain(`answer       ${line}\n`);
  });

  it('gets the headers of the preset', () => {
    const explanation = sceneOf({ securityHeaders: 'strict' }).explain();
    expect(explanation.answer).toMatchObject({
      compression: null,
      adds: expect.arrayContaining(['x-frame-options', 'permissions-policy']),
      removes: expect.arrayContaining(['server']),
    });
    expect(explanationText(explanation)).toMatch(/^answer {7}gets x-content-type-options, .*\n {13}loses server, /m);
  });
});
