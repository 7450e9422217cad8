// The live page in a real browser: what it shows, and how its figures follow from counters.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasChromium, startBrowser, type TestBrowser } from '../support/browser.ts';
import { openLivePage } from '../support/live-page-scene.ts';
import { endpointOf, serviceOf, serviceWith } from '../support/page-document.ts';

const HOSTILE = '<img src=x onerror=alert(1)>';

describe.skipIf(!hasChromium())('the live page', () => {
  let browser: TestBrowser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  it('has no rates before its second look, and then rates and shares from the counters', async () => {
    await using scene = await openLivePage({ browser, services: [serviceWith('web', [1000, 50])] });
    await scene.open('web');
    const row = scene.service('web');
    expect(await row.locator('.spark-figure').textContent()).toBe('–');

    await scene.look({ services: [serviceWith('web', [1030, 60], [0, 2])] });
    expect(await row.locator('.spark-figure').textContent()).toBe('40');
    expect(await scene.cell(row, 'Failures/s').textContent()).toBe('2.0 (5.0 %)');
    expect(await scene.cell(scene.endpoint('10.0.0.1:80'), 'Share').textContent()).toBe('75 %');
    expect(await scene.cell(scene.endpoint('10.0.0.2:80'), 'Share').textContent()).toBe('25 %');
    expect(await scene.cell(scene.endpoint('10.0.0.2:80'), 'Failures/s').textContent()).toBe('2.02 in all');
    expect(await scene.page.locator('#requests').textContent()).toBe('40');
    expect(await scene.page.locator('#failure-share').textContent()).toBe('5.0 % of the requests');
  });

  it('means its figures over ten seconds, and forgets what is older', async () => {
    await using scene = await openLivePage({ browser, services: [serviceWith('web', [0])] });
    await scene.open('web');
    const requests = scene.cell(scene.endpoint('10.0.0.1:80'), 'Requests/s');
    await scene.look({ services: [serviceWith('web', [100])] });
    expect(await requests.textContent()).toBe('100');
    await scene.look({ services: [serviceWith('web', [100])] });
    expect(await requests.textContent()).toBe('50');
    for (let second = 0; second < 9; second++) await scene.look({ services: [serviceWith('web', [100])] });
    expect(await requests.textContent()).toBe('0');
    expect(await scene.service('web').locator('.spark-figure').textContent()).toBe('0');
  });

  it('shows neither negative rates nor a leap when the gateway starts anew, and says that it did', async () => {
    await using scene = await openLivePage({ browser, services: [serviceWith('web', [5000])] });
    await scene.look({ services: [serviceWith('web', [5010])] });
    const anew = { pid: 4712, startedAt: new Date().toISOString(), uptimeSeconds: 1 };

    await scene.look({ services: [serviceWith('web', [7])], gateway: anew });
    expect(await scene.page.locator('#requests').textContent()).toBe('–');
    expect(await scene.page.locator('#changes li').allTextContents()).toEqual([
      expect.stringContaining('the gateway was started anew, as process 4712'),
    ]);
    await scene.look({ services: [serviceWith('web', [12])], gateway: anew });
    expect(await scene.page.locator('#requests').textContent()).toBe('5.0');
  });

  it('counts an endpoint that comes only from its first look on, and drops one that goes', async () => {
    const [first = endpointOf(''), second = endpointOf('')] = serviceWith('web', [10, 90_000]).endpoints;
    await using scene = await openLivePage({ browser, services: [serviceOf('web', { endpoints: [first] })] });
    await scene.open('web');

    await scene.look({ services: [serviceOf('web', { endpoints: [{ ...first, requests: 20 }, second] })] });
    expect(await scene.page.locator('#requests').textContent()).toBe('10');
    expect(await scene.cell(scene.endpoint('10.0.0.2:80'), 'Requests/s').textContent()).toBe('–');
    await scene.look({ services: [serviceOf('web', { endpoints: [{ ...second, requests: 90_006 }] })] });
    expect(await scene.cell(scene.endpoint('10.0.0.2:80'), 'Requests/s').textContent()).toBe('6.0');
    expect(await scene.endpoint('10.0.0.1:80').count()).toBe(0);
    expect((await scene.page.locator('#changes li').allTextContents()).join()).toMatch(/10\.0\.0\.1:80 went/);
  });

  it('says why an endpoint is not in use and until when, by the clock of the gateway', async () => {
    const why = 'ejected: 5 failures in a row, the last: connection refused';
    const uptimeSeconds = 10_000;
    // This gateway's clock is an hour behind the browser's.
    const gatewayMs = Date.now() - 3_600_000;
    const gateway = { startedAt: new Date(gatewayMs - uptimeSeconds * 1000).toISOString(), uptimeSeconds };
    const until = new Date(gatewayMs + 30_000).toISOString();
    const out = endpointOf('10.0.0.2:80', { state: 'ejected', why, until, failures: 5, ejections: 1 });
    const services = [serviceOf('web', { endpoints: [endpointOf('10.0.0.1:80'), out] })];
    await using scene = await openLivePage({ browser, services, gateway });
    await scene.open('web');

    const standing = scene.endpoint('10.0.0.2:80').locator('.standing');
    expect(await standing.textContent()).toMatch(
      /^✖ejected ejected: 5 failures in a row, the last: connection refused until [\d :-]+ \((29|30) s left\)$/,
    );
    expect(await scene.cell(scene.endpoint('10.0.0.2:80'), 'Weight').textContent()).toBe('0 of 1');
    expect(await scene.page.locator('#problems').textContent()).toContain('1 of 2 endpoints set aside: 10.0.0.2:80');
  });

  it('tells of every kind of trouble, the worst first, and leads to the service', async () => {
    const since = new Date(Date.now() - 222_000).toISOString();
    const services = [
      serviceOf('calm'),
      serviceOf('drained', {
        endpoints: [endpointOf('10.0.0.1:80'), endpointOf('10.0.0.2:80', { state: 'draining' })],
      }),
      serviceOf('empty', { state: 'empty', endpoints: [], degradedSince: since, degradedReason: 'empty' }),
      serviceOf('kept', { state: 'stale', ageSeconds: 90, lastError: 'connect ECONNREFUSED' }),
      serviceOf('open', { breaker: 'open', breakerUntil: since }),
      serviceOf('parked', { maintenance: { since, reason: 'ask Mona' }, degradedSince: since }),
    ];
    const leader = { worker: null, term: 4 };
    await using scene = await openLivePage({ browser, services, gateway: { leader } });
    expect(await scene.page.locator('#problems li').allTextContents()).toEqual([
      expect.stringMatching(/critical.*Gateway: no worker leads/),
      expect.stringMatching(
        /critical.*empty: consul lists no endpoint; answered without the pool since .* \(3 min 4\d s\)/,
      ),
      expect.stringMatching(/critical.*open: the breaker is open/),
      expect.stringMatching(/warning.*kept: .*consul last answered well 90 s ago: connect ECONNREFUSED/),
      expect.stringMatching(/note.*drained: 1 endpoint draining/),
      expect.stringMatching(/note.*parked: in maintenance since .*: ask Mona; answered without the pool/),
    ]);
    expect(await scene.page.title()).toBe('(4) Weir');

    await scene.page.getByRole('button', { name: 'kept' }).first().click();
    expect(await scene.page.getByRole('table', { name: 'Endpoints of kept' }).isVisible()).toBe(true);
    await scene.look({ services: [serviceOf('calm')] });
    expect(await scene.page.locator('#problems li').count()).toBe(0);
    expect(await scene.page.getByText('Nothing. Every service answers from its pool.').isVisible()).toBe(true);
  });

  it('shows what instances say of themselves as text, never as markup', async () => {
    const endpoint = endpointOf('10.0.0.1:80', {
      state: 'ejected',
      why: HOSTILE,
      instances: [HOSTILE],
      tags: [HOSTILE],
      meta: { [HOSTILE]: HOSTILE },
    });
    const maintenance = { since: null, reason: HOSTILE };
    const hostile = serviceOf(HOSTILE, { lastError: HOSTILE, policy: HOSTILE, endpoints: [endpoint], maintenance });
    await using scene = await openLivePage({ browser, services: [hostile] });
    await scene.open(HOSTILE);
    await scene.look({ services: [{ ...hostile, endpoints: [{ ...endpoint, state: 'active' }] }] });

    await scene.page.getByRole('button', { name: 'Drain 10.0.0.1:80' }).click();
    expect(await scene.page.locator('#confirm-title').textContent()).toBe(`Drain 10.0.0.1:80 of ${HOSTILE}?`);
    expect(await scene.page.locator('img').count()).toBe(0);
    expect(await scene.page.locator('.endpoint .about').textContent()).toBe(
      [HOSTILE, HOSTILE, `${HOSTILE}=${HOSTILE}`].join(' · '),
    );
    expect(scene.complaints).toEqual([]);
  });

  it('draws two minutes of requests, with failures as bars, and says their peak to those who listen', async () => {
    await using scene = await openLivePage({ browser, services: [serviceWith('web', [0])] });
    await scene.look({ services: [serviceWith('web', [10])] });
    await scene.look({ services: [serviceWith('web', [40], [3])] });
    const plot = scene.page.getByRole('img', { name: 'Requests a second, last 2 minutes: peak 30' });
    expect((await plot.locator('.plot-line').getAttribute('d'))?.match(/[ML]/g)).toEqual(['M', 'L']);
    const failures = scene.page.getByRole('img', { name: 'Failures a second, last 2 minutes: peak 3.0' });
    expect((await failures.locator('.plot-bars').getAttribute('d'))?.match(/M/g)).toEqual(['M']);
  });
});
